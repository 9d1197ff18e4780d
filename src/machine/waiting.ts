/** Waiting, on a clock that a test may move by hand. */
import { setMaxListeners } from "node:events";
import { RollcallError } from "../core/errors.ts";

export interface Timers {
  /** Milliseconds since some moment; never steps. */
  monotonicMs(): number;
  /** Calls once, later; returns how to cancel. */
  after(delayMs: number, call: () => void): () => void;
}

/** Rejects with the signal's reason when it aborts before. */
export function pause(timers: Timers, delayMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(reasonOf(signal));
    const cancel = timers.after(delayMs, () => {
      signal.removeEventListener("abort", giveUp);
      resolve();
    });
    const giveUp = () => {
      cancel();
      reject(reasonOf(signal));
    };
    signal.addEventListener("abort", giveUp, { once: true });
  });
}

/** Waits for what others wait for, too, but no longer than the signal allows. */
export function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const giveUp = () => reject(reasonOf(signal));
    if (signal.aborted) giveUp();
    signal.addEventListener("abort", giveUp, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", giveUp));
  });
}

/** The result of the work, or nothing where it takes longer. The work goes on. */
export async function unlessLate<T>(
  timers: Pick<Timers, "after">,
  ms: number,
  work: Promise<T>,
): Promise<T | undefined> {
  let cancel: () => void = () => undefined;
  const late = new Promise<undefined>((resolve) => {
    cancel = timers.after(ms, () => resolve(undefined));
  });
  return Promise.race([work, late]).finally(() => cancel());
}

/** Aborts when one of them does; to be disposed of when that no longer matters. */
export function linked(...signals: readonly (AbortSignal | undefined)[]): LinkedSignal {
  const abort = new AbortController();
  const undo: (() => void)[] = [];
  for (const signal of signals) {
    if (!signal) continue;
    const follow = () => abort.abort(signal.reason);
    if (signal.aborted) follow();
    // As many as there are that wait.
    setMaxListeners(0, signal);
    signal.addEventListener("abort", follow, { once: true });
    undo.push(() => signal.removeEventListener("abort", follow));
  }
  const unlink = () => {
    for (const each of undo) each();
  };
  return { signal: abort.signal, unlink, [Symbol.dispose]: unlink };
}

export interface LinkedSignal extends Disposable {
  readonly signal: AbortSignal;
  readonly unlink: () => void;
}

/** Why it aborted, as an error of ours. */
export function reasonOf({ reason }: AbortSignal): RollcallError {
  if (reason instanceof RollcallError) return reason;
  return new RollcallError("CANCELLED", "the call was cancelled", { cause: reason });
}

/** A growing, bounded, jittered wait before the next of many tries. */
export function backOff(
  tries: number,
  range: { readonly firstRetryMs: number; readonly lastRetryMs: number },
  random: () => number,
): number {
  const fullMs = Math.min(range.lastRetryMs, range.firstRetryMs * 2 ** Math.min(tries, 16));
  return fullMs * (0.5 + random() / 2);
}
