/**
 * A body, read to its end or to the limit, whichever comes first. One that says how long it is was
 * checked at the gate, and Node reads no more of it than was said.
 */
import type { IncomingMessage } from "node:http";
import { RollcallError } from "../core/errors.ts";

export function bodyTooLarge(maxBytes: number): RollcallError {
  return new RollcallError("TOO_LARGE", `the body has more than ${maxBytes} bytes`);
}

export interface BodyReader {
  readonly maxBytes: number;
  readonly whole: (body: Buffer) => void;
  /** Called once, and then `whole` is not; also for what `whole` throws. */
  readonly failed: (error: unknown) => void;
}

/** Without a promise, for those who are asked thousands of times a second. */
export function takeBody(request: IncomingMessage, reader: BodyReader): void {
  const { maxBytes, whole, failed } = reader;
  let chunks: Buffer[] = [];
  let bytes = 0;
  let isOver = false;
  const fail = (error: unknown) => {
    isOver = true;
    chunks = [];
    failed(error);
  };
  request.on("data", (chunk: Buffer) => {
    if (isOver) return;
    bytes += chunk.length;
    chunks.push(chunk);
    if (bytes > maxBytes) fail(bodyTooLarge(maxBytes));
  });
  request.on("end", () => {
    if (isOver) return;
    isOver = true;
    try {
      whole(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks));
    } catch (error) {
      failed(error);
    }
  });
  request.on("close", () => {
    // An error costs more to make than everything else here.
    if (!isOver) fail(new RollcallError("CANCELLED", "the client went away"));
  });
}

/** Rejects as soon as it is too large. */
export function readBody(request: IncomingMessage, maxBytes: number): Promise<Buffer> {
  return new Promise((whole, failed) => takeBody(request, { maxBytes, whole, failed }));
}
