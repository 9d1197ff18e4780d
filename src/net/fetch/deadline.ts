/** Work that ends at a timeout or when its caller aborts, whichever comes first. */

export interface Timers {
  /** Calls once, later; returns how to cancel. */
  after(delayMs: number, call: () => void): () => void;
}

export const systemTimers: Timers = {
  after(delayMs, call) {
    const timer = setTimeout(call, delayMs);
    timer.unref();
    return () => clearTimeout(timer);
  },
};

export interface Deadline {
  readonly ms: number;
  readonly timers: Timers;
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
  using both = joined([signal, time.signal]);
  try {
    return await interruptible(work(both.signal), both.signal);
  } finally {
    cancel();
    // Work left behind (a socket that still opens) sees the abort, too.
    time.abort(late);
  }
}

/** A signal that aborts when one of them does, and a way to leave them when it is over. */
export function joined(
  signals: readonly AbortSignal[],
): Disposable & { readonly signal: AbortSignal } {
  const both = new AbortController();
  const leave = signals.map((each) => {
    const pass = (): void => both.abort(each.reason);
    if (each.aborted) pass();
    each.addEventListener("abort", pass, { once: true });
    return () => each.removeEventListener("abort", pass);
  });
  return { signal: both.signal, [Symbol.dispose]: () => leave.forEach((each) => each()) };
}

/** Settles when the signal aborts, even if the work takes no notice. */
async function interruptible<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const stop = (): void => reject(signal.reason as Error);
    signal.addEventListener("abort", stop, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", stop));
  });
}
