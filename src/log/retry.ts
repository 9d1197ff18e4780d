/** Trying again while a server restarts or hands over, for so long and no longer. */
import { setTimeout as delay } from "node:timers/promises";
import { RETRY } from "./limits.ts";

export interface RetryOptions {
  readonly withinMs: number;
  /** Ends the waiting between two tries. */
  readonly signal: AbortSignal;
  /** Whether the same may succeed in a moment. */
  readonly isPassing: (error: unknown) => boolean;
}

/** Gives what the first try gives that succeeds, or rejects as the last one did. */
export async function retried<T>(
  work: (tries: number) => Promise<T>,
  { withinMs, signal, isPassing }: RetryOptions,
): Promise<T> {
  const endsMs = performance.now() + withinMs;
  let pauseMs: number = RETRY.pauseMs;
  for (let tries = 0; ; tries += 1, pauseMs = longer(pauseMs)) {
    try {
      return await work(tries);
    } catch (error) {
      const isOver = signal.aborted || performance.now() + pauseMs > endsMs;
      if (isOver || !isPassing(error)) throw error;
      await waited(pauseMs, signal);
    }
  }
}

/** Resolves after a time, or at once when the signal aborts. */
export async function waited(ms: number, signal: AbortSignal): Promise<void> {
  await delay(ms, undefined, { signal }).catch(() => undefined);
}

/** The value of the work, or nothing as soon as the signal aborts: it may take long to end. */
export function unlessEnded<T>(work: Promise<T>, signal: AbortSignal): Promise<T | undefined> {
  return new Promise((resolve, reject) => {
    const end = () => resolve(undefined);
    if (signal.aborted) end();
    signal.addEventListener("abort", end, { once: true });
    const settled = () => signal.removeEventListener("abort", end);
    work.then(resolve, reject).then(settled, settled);
  });
}

/** The next pause. */
export function longer(pauseMs: number): number {
  return Math.min(2 * pauseMs, RETRY.mostMs);
}
