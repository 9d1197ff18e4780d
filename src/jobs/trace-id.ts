/** Trace ids nobody has used: chance is asked for many at a time, since asking costs the most. */
import { randomFillSync } from "node:crypto";

const BYTES = 16;
const pool = Buffer.alloc(256 * BYTES);
let used = pool.length;

/** 32 lower-case hex digits, not all of them zero. */
export function newTraceId(): string {
  if (used === pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  used += BYTES;
  // Bit 0 is set: all zeros means "no trace".
  pool[used - 1] = (pool[used - 1] ?? 0) | 1;
  return pool.toString("hex", used - BYTES, used);
}
