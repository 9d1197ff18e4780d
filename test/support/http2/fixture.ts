/** For tests of HTTP/2: a server on a free port, Node's client, and one that sends raw bytes. */
import { once } from "node:events";
import { connect, type ClientHttp2Session, type Settings } from "node:http2";
import { connect as connectTcp, createServer, type AddressInfo, type Socket } from "node:net";
import { buffer } from "node:stream/consumers";
import { onTestFinished } from "vitest";
import { DEFAULT_WINDOW, FRAME, PREFACE, SETTING } from "../../../src/net/http2/codes.ts";
import { Http2Connection } from "../../../src/net/http2/connection.ts";
import { encoded } from "../../../src/net/http2/hpack.ts";
import type { ConnectionLimits } from "../../../src/net/http2/limits.ts";
import type { Stream } from "../../../src/net/http2/stream.ts";
import { newWaiting, type WaitingLimits } from "../../../src/net/waiting.ts";
import { settings } from "./frames.ts";

const LIMITS: ConnectionLimits = {
  streams: 100,
  strangerStreams: 100,
  wastedStreamsPerSecond: 33,
  settingsPerSecond: 100,
  headerBytes: 4_096,
  streamWindow: 65_535,
  connectionWindow: 200_000,
  unreadBytes: 1_000_000,
  idleFramesPerSecond: 1_000,
  keepaliveMs: 60_000,
  keepaliveTimeoutMs: 60_000,
};

export const OK = encoded([[":status", "200"]]);
export const END = encoded([["x-end", "1"]]);

export async function open(
  serve: (stream: Stream) => void,
  limits: Partial<ConnectionLimits> = {},
  unread: Partial<WaitingLimits> = {},
) {
  const waiting = newWaiting(undefined, { grpc_answers: unread });
  const connections: Http2Connection[] = [];
  const server = createServer((socket) => {
    const onClose = () => connections.splice(connections.indexOf(connection), 1);
    const connection = new Http2Connection(socket, {
      limits: { ...LIMITS, ...limits },
      answers: waiting.grpc_answers,
      onStream: serve,
      onClose,
    });
    connections.push(connection);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  onTestFinished(() => {
    for (const connection of connections.slice()) connection.destroy();
    server.close();
  });
  return { port, connections, waiting };
}

export function client(port: number, given: Settings = {}): ClientHttp2Session {
  const session = connect(`http://127.0.0.1:${port}`, { settings: given });
  session.on("error", () => undefined);
  onTestFinished(() => session.destroy());
  return session;
}

/** Answers with what came. */
export function echo(stream: Stream): void {
  stream.respond(OK);
  stream.take({
    data: (chunk) => {
      stream.write(chunk);
      stream.consumed(chunk.length);
    },
    end: () => stream.end(END),
  });
}

export async function exchange(session: ClientHttp2Session, body: Buffer): Promise<Buffer> {
  const stream = session.request({ ":method": "POST", ":path": "/" });
  stream.end(body);
  return buffer(stream);
}

export interface Raw {
  readonly socket: Socket;
  readonly closed: Promise<unknown>;
  /** The numbers of GOAWAY frames that came. */
  readonly reasons: number[];
}

/** A client that says what it wants, byte by byte. */
export function raw(port: number, window = DEFAULT_WINDOW): Raw {
  const socket = connectTcp(port, "127.0.0.1");
  const reasons: number[] = [];
  let bytes: Buffer = Buffer.alloc(0);
  socket.on("error", () => undefined);
  socket.on("data", (chunk: Buffer) => {
    bytes = Buffer.concat([bytes, chunk]);
    while (bytes.length >= 9 && bytes.length >= 9 + bytes.readUIntBE(0, 3)) {
      const length = bytes.readUIntBE(0, 3);
      if (bytes[3] === FRAME.GOAWAY) reasons.push(bytes.readUInt32BE(13));
      bytes = bytes.subarray(9 + length);
    }
  });
  socket.write(PREFACE);
  socket.write(settings([SETTING.INITIAL_WINDOW_SIZE, window]));
  onTestFinished(() => void socket.destroy());
  return { socket, reasons, closed: once(socket, "close") };
}
