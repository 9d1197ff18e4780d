/** Clients that say what they want, byte by byte, and read what they like. */
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { onTestFinished } from "vitest";
import { FLAG, FRAME, PREFACE, SETTING } from "../../src/net/http2/codes.ts";
import { encoded } from "../../src/net/http2/hpack.ts";
import { flagged, frame, settings } from "../support/http2/frames.ts";

/** A connection that reads nothing unless it is asked to. */
export async function dial(port: number): Promise<Socket> {
  const socket = connect(port, "127.0.0.1").setMaxListeners(0);
  socket.on("error", () => undefined);
  onTestFinished(() => void socket.destroy());
  await once(socket, "connect");
  return socket;
}

/** Resolves when the bytes are on their way, or nobody takes them any more. */
export function push(socket: Socket, bytes: Buffer | string): Promise<void> {
  return new Promise((resolve) => {
    if (socket.destroyed) return resolve();
    socket.once("close", () => resolve());
    socket.write(bytes, () => resolve());
  });
}

/** A connection of HTTP/2 whose streams have no room for any answer. */
export async function dialHttp2(port: number, window = 0): Promise<Socket> {
  const socket = await dial(port);
  await push(socket, Buffer.concat([PREFACE, settings([SETTING.INITIAL_WINDOW_SIZE, window])]));
  return socket;
}

export function headers(id: number, path: string): Buffer {
  const block = encoded([
    [":method", "POST"],
    [":scheme", "http"],
    [":path", path],
    ["content-type", "application/grpc"],
    ["te", "trailers"],
  ]);
  return flagged(FLAG.END_HEADERS, frame(FRAME.HEADERS, id, block));
}

/** A whole unary call. */
export function grpcCall(id: number, path: string, message: Uint8Array): Buffer {
  const prefix = Buffer.alloc(5);
  prefix.writeUInt32BE(message.length, 1);
  const data = Buffer.concat([prefix, message]);
  return Buffer.concat([headers(id, path), flagged(FLAG.END_STREAM, frame(FRAME.DATA, id, data))]);
}
