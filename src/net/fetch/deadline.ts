/** Work that ends at a timeout or when its caller aborts, whichever comes first. */
import { linked, type Timers } from "../../machine/waiting.ts";

export interface Deadline {
  readonly ms: number;
  readonly timers: Pick<Timers, "after">;
  readonly signal: AbortSignal;
  /** The reason of the inner signal at the timeout. */
  readonly late: Error;
}

export async function within<T>(
  { ms, timers, signal, late }: Deadline,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  signal.throwIfAborted();
  const time = new AbortController();
  const cancel = timers.after(ms, () => time.abort(late));
  using both = linked(signal, time.signal);
  try {
    return await interruptible(work(both.signal), both.signal);
  } finally {
    cancel();
    // Work left behind (a socket that still opens) sees the abort, too.
    time.abort(late);
  }
}

/** Settles when the signal aborts, even if the work takes no notice. */
async function interruptible<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const stop = (): void => reject(signal.reason as Error);
    signal.addEventListener("abort", stop, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", stop));
  });
}
