/**
 * How long a call may take: until its caller gives up, its time is up, or the channel closes. All
 * of them are one signal to what works below, and each leaves its own reason.
 */
import { setMaxListeners } from "node:events";
import { RollcallError } from "../../core/errors.ts";
import { reasonOf, type Timers } from "../../machine/waiting.ts";

export interface ScopeOptions {
  readonly timers: Timers;
  /** Absent: as long as it takes. */
  readonly timeoutMs: number | undefined;
  readonly signal: AbortSignal | undefined;
  /** The time is for the beginning only: the server need not know of it. */
  readonly isOpenEnded: boolean;
  readonly onEnd: () => void;
}

export class CallScope {
  readonly #abort = new AbortController();
  readonly #options: ScopeOptions;
  readonly #endsAtMs: number;
  readonly #cancelTimer: () => void;
  #isLate = false;
  #isOver = false;

  constructor(options: ScopeOptions) {
    this.#options = options;
    const { timers, timeoutMs, signal } = options;
    this.#endsAtMs = timers.monotonicMs() + (timeoutMs ?? Infinity);
    this.#cancelTimer =
      timeoutMs === undefined ? () => undefined : timers.after(timeoutMs, () => this.#late());
    // A program may well give all its calls the same signal.
    if (signal) setMaxListeners(0, signal);
    signal?.addEventListener("abort", this.#onAbort, { once: true });
    if (signal?.aborted) this.#onAbort();
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /** Whether it was time, and nobody's wish, that ended it. */
  get isLate(): boolean {
    return this.#isLate;
  }

  /** The time left for the whole call; absent when it has no deadline. */
  get remainingMs(): number | undefined {
    const { timers, timeoutMs, isOpenEnded } = this.#options;
    if (timeoutMs === undefined || isOpenEnded) return undefined;
    return Math.max(0, this.#endsAtMs - timers.monotonicMs());
  }

  abort(reason: RollcallError): void {
    this.#abort.abort(reason);
  }

  /** It has begun in time: from here on it takes as long as it takes. */
  lift(): void {
    this.#cancelTimer();
  }

  /** The call is over. Idempotent. */
  end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#cancelTimer();
    this.#options.signal?.removeEventListener("abort", this.#onAbort);
    this.#options.onEnd();
  }

  readonly #onAbort = () => {
    const { signal } = this.#options;
    if (signal) this.#abort.abort(reasonOf(signal));
  };

  #late(): void {
    this.#isLate = true;
    const message = `no answer within ${this.#options.timeoutMs ?? 0} ms`;
    this.#abort.abort(new RollcallError("DEADLINE_EXCEEDED", message));
  }
}
