/** For tests: frames of HTTP/2, byte by byte. */
import { FRAME } from "../../../src/net/http2/codes.ts";

export function frame(type: number, id: number, payload: Uint8Array = Buffer.alloc(0)): Buffer {
  const header = Buffer.alloc(9);
  header.writeUIntBE(payload.length, 0, 3);
  header[3] = type;
  header.writeUInt32BE(id, 5);
  return Buffer.concat([header, payload]);
}

/** A frame with these flags. */
export function flagged(flags: number, bytes: Buffer): Buffer {
  bytes[4] = flags;
  return bytes;
}

export function settings(...values: readonly (readonly [number, number])[]): Buffer {
  const payload = Buffer.alloc(6 * values.length);
  for (const [i, [setting, value]] of values.entries()) {
    payload.writeUInt16BE(setting, 6 * i);
    payload.writeUInt32BE(value, 6 * i + 2);
  }
  return frame(FRAME.SETTINGS, 0, payload);
}

export function many<T>(count: number, make: (i: number) => T): T[] {
  return Array.from({ length: count }, (_, i) => make(i));
}
