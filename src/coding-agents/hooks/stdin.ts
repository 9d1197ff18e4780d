/** All of standard input. It is read to its end even if it is too much: its writer waits. */
import { readSync } from "node:fs";
import { PAYLOAD } from "./limits.ts";

const CHUNK = 64 * 1024;

/** Nothing when it was too much, or never came to an end. */
export function readStdin(descriptor = 0): string | undefined {
  const chunks: Buffer[] = [];
  let length = 0;
  let waitedMs = 0;
  for (;;) {
    const chunk = Buffer.allocUnsafe(CHUNK);
    const count = readSome(descriptor, chunk);
    if (count === 0) break;
    if (count === undefined) {
      if (waitedMs > PAYLOAD.patienceMs) return undefined;
      waitedMs += PAUSE_MS;
      pause();
      continue;
    }
    length += count;
    if (length <= PAYLOAD.bytes) chunks.push(chunk.subarray(0, count));
  }
  return length > PAYLOAD.bytes ? undefined : Buffer.concat(chunks).toString();
}

/** How many bytes; none at the end; nothing when it would have to wait. */
function readSome(descriptor: number, chunk: Buffer): number | undefined {
  try {
    return readSync(descriptor, chunk);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EAGAIN") return undefined;
    if (code === "EOF") return 0;
    throw error;
  }
}

const PAUSE_MS = 2;

function pause(): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PAUSE_MS);
}
