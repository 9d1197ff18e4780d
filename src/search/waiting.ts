/** Waits that end: by time, or because what they were for is closing. Neither leaves a timer. */
import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";

/** Time goes by, less when the signal aborts; 0 lets everybody else have a turn. */
export async function pauseFor(delayMs: number, signal: AbortSignal): Promise<void> {
  try {
    if (delayMs === 0) await nextTurn(undefined, { signal });
    else await sleep(delayMs, undefined, { signal });
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

/** Whether it came to pass in time. */
export async function doneWithin(timeoutMs: number, wanted: Promise<void>): Promise<boolean> {
  const over = new AbortController();
  const tooLate = pauseFor(timeoutMs, over.signal).then(() => false);
  try {
    return await Promise.race([wanted.then(() => true), tooLate]);
  } finally {
    over.abort();
  }
}
