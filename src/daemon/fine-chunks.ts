/**
 * Bodies in chunks of a few bytes. Node makes a buffer of each chunk, of all that one read of the
 * socket brought, before anybody can take the first: 64 KiB of such chunks are 4 MiB of buffers,
 * kept until the caller is known. Here they are joined as they come, and counted.
 */
import type { IncomingMessage } from "node:http";
import { KIB } from "../core/units.ts";
import { GatheredBytes } from "../net/gathered-bytes.ts";

/** A chunk that is not joined with others: its buffer is worth what it costs. */
const WHOLE_BYTES = 1 * KIB;
const JOINED_BYTES = 4 * KIB;

const counts = new WeakMap<IncomingMessage, number>();

/** Before any of its body was read. */
export function joinFineChunks(request: IncomingMessage): void {
  if (request.headers["transfer-encoding"] === undefined) return;
  const joined = new GatheredBytes();
  const push = request.push.bind(request);
  const flush = (): boolean => joined.length === 0 || push(joined.take());
  let chunks = 0;
  request.push = (chunk: Buffer | null, encoding?: BufferEncoding): boolean => {
    if (chunk !== null) counts.set(request, (chunks += 1));
    if (chunk === null || chunk.length >= WHOLE_BYTES) {
      flush();
      return push(chunk, encoding);
    }
    // What is left when this read of the socket is over: a tick would come after every chunk.
    if (joined.length === 0) setImmediate(flush);
    joined.push(chunk);
    return joined.length < JOINED_BYTES || flush();
  };
}

/** How many chunks have come of a body in chunks; undefined of any other. */
export function chunksOf(request: IncomingMessage): number | undefined {
  return counts.get(request);
}
