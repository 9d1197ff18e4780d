/**
 * As little WebSocket as a load client needs, on a plain socket: it is the same for every server
 * under load, and costs so little that it is never what is measured. It masks with zeros, which
 * changes nothing, and reads of a frame no more than where it ends.
 */
import { connect, type Socket } from "node:net";

export interface Listener {
  /** Each frame, as a part of a buffer that must not be kept. */
  onFrame(bytes: Buffer, start: number, end: number): void;
  /** All frames that came at once were given. */
  onRead(): void;
}

const TEXT = 0x81;
const PING = 0x89;
const PONG = 0x8a;
const MASKED = 0x80;

export class Wire {
  readonly #socket: Socket;
  readonly #listener: Listener;
  #rest: Buffer = Buffer.alloc(0);

  /** Resolves when the server agreed to speak WebSocket. */
  static open(url: string, listener: Listener): Promise<Wire> {
    const { hostname, port, host, pathname } = new URL(url);
    return new Promise((resolve, reject) => {
      const socket = connect({ host: hostname, port: Number(port), noDelay: true });
      socket.once("error", reject);
      socket.once("connect", () => {
        const key = "cm9sbGNhbGwtYmVuY2gtMQ==";
        socket.write(
          `GET ${pathname} HTTP/1.1\r\nHost: ${host}\r\nConnection: Upgrade\r\n` +
            `Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${key}\r\n\r\n`,
        );
      });
      socket.once("data", (answer: Buffer) => {
        const end = answer.indexOf("\r\n\r\n");
        if (!answer.toString("latin1", 0, 12).endsWith("101") || end < 0) {
          reject(new Error(`${url} is no WebSocket: ${answer.toString("latin1", 0, 80)}`));
          return;
        }
        const wire = new Wire(socket, listener);
        if (end + 4 < answer.length) wire.#take(answer.subarray(end + 4));
        resolve(wire);
      });
    });
  }

  private constructor(socket: Socket, listener: Listener) {
    this.#socket = socket;
    this.#listener = listener;
    socket.on("data", (chunk: Buffer) => this.#take(chunk));
  }

  write(frames: Buffer): void {
    this.#socket.write(frames);
  }

  close(): void {
    this.#socket.destroy();
  }

  #take(chunk: Buffer): void {
    const bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    let at = 0;
    while (bytes.length - at >= 4) {
      const short = bytes.readUInt8(at + 1);
      const head = short < 126 ? 2 : 4;
      const end = at + head + (short < 126 ? short : bytes.readUInt16BE(at + 2));
      if (end > bytes.length) break;
      const opcode = bytes.readUInt8(at);
      if (opcode === TEXT && short !== 127) this.#listener.onFrame(bytes, at + head, end);
      else if (opcode === PING) this.write(frame(PONG, bytes.subarray(at + head, end)));
      else throw new Error(`a frame of opcode ${opcode} under load`);
      at = end;
    }
    this.#rest = bytes.subarray(at);
    this.#listener.onRead();
  }
}

/** A frame that is text, of fewer than 65,536 bytes. */
export function frameOf(text: string): Buffer {
  return frame(TEXT, Buffer.from(text));
}

function frame(opcode: number, payload: Buffer): Buffer {
  const { length } = payload;
  const size = length < 126 ? [MASKED | length] : [MASKED | 126, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([opcode, ...size, 0, 0, 0, 0]), payload]);
}
