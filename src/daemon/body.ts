/**
 * A body that does not say how long it is, read to its end or to the limit, whichever comes first.
 * One that does say is checked at the gate, and Node reads no more of it than was said.
 */
import type { IncomingMessage } from "node:http";
import { RollcallError } from "../core/errors.ts";

export function bodyTooLarge(maxBytes: number): RollcallError {
  return new RollcallError("TOO_LARGE", `the body has more than ${maxBytes} bytes`);
}

/** Rejects as soon as it is too large; the rest stays unread. */
export function readBody(request: IncomingMessage, maxBytes: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    const take = (chunk: Buffer) => {
      bytes += chunk.length;
      chunks.push(chunk);
      if (bytes > maxBytes) settle(bodyTooLarge(maxBytes));
    };
    const settle = (error?: Error) => {
      request.off("data", take).off("end", finish).off("close", abandon);
      if (error) reject(error);
      else resolve(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks));
    };
    const finish = () => settle();
    const abandon = () => settle(new RollcallError("CANCELLED", "the client went away"));
    request.on("data", take).on("end", finish).on("close", abandon);
  });
}
