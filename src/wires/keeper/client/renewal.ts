/**
 * The renewal of what expires: an agent's life, a lease, a claim.
 *
 *   proven ──a renewal gets through──▶ proven …
 *     │ none did for a whole ttl            ▲
 *     ├──▶ in doubt ────────────────────────┘ (if its holder goes on)
 *     └──▶ refused: it is over, and the daemon says so
 *
 * The daemon counts the ttl from when it handled a request, so a client that counts from before it
 * was sent is never later than the daemon; a margin is taken off for clocks that drift. Time is the
 * longer of two clocks: the monotonic one may stand still while the machine sleeps.
 */
import { codeOf, RollcallError, type ErrorCode } from "../../../core/errors.ts";
import { markOf, sinceMs, type Clock, type Mark } from "../../../core/clock.ts";
import { pause } from "../../../machine/waiting.ts";
import { PACE } from "./limits.ts";

/** For the call that renews. */
export interface RenewalCall {
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
}

export interface RenewalOptions {
  readonly clock: Clock;
  readonly random: () => number;
  readonly ttlMs: number;
  /** Taken before it was asked for the first time. */
  readonly since: Mark;
  /** How long the thing that it depends on lasts yet. */
  readonly alsoLeftMs?: () => number;
  /** The codes that end it; any other error is retried. */
  readonly refusals: readonly ErrorCode[];
  readonly renew: (sent: RenewalCall) => Promise<void>;
  /** For all that is known here it may be over. */
  readonly onDoubt: () => void;
  /** It is not. Never called by those who stop at the first doubt. */
  readonly onProof?: () => void;
  /** The daemon says that it is over. */
  readonly onRefusal: (error: RollcallError) => void;
}

export class Renewal {
  readonly #options: RenewalOptions;
  readonly #stop = new AbortController();
  #since: Mark;
  #isDoubted = false;
  #cancelWatchdog: () => void = () => undefined;

  constructor(options: RenewalOptions) {
    this.#options = options;
    this.#since = options.since;
    // Not yet: the maker's callbacks may need the object, which it does not have yet.
    queueMicrotask(() => this.#watch());
    // It ends by being stopped.
    this.#run().catch(() => undefined);
  }

  get isProven(): boolean {
    return !this.#isDoubted && this.leftMs() > 0;
  }

  /** How long it can be relied on, from now; `ttls` is after how many of them it is over. */
  leftMs(ttls = 1): number {
    const { clock, ttlMs, alsoLeftMs } = this.#options;
    const ownMs = ttlMs * ttls - marginMs(ttlMs) - sinceMs(clock, this.#since);
    return Math.min(ownMs, alsoLeftMs?.() ?? Infinity);
  }

  /** Idempotent. */
  stop(): void {
    this.#stop.abort();
    this.#cancelWatchdog();
  }

  async #run(): Promise<void> {
    const { clock, random, ttlMs, renew, refusals } = this.#options;
    const { signal } = this.#stop;
    const jitter = () => 1 - PACE.jitter + 2 * PACE.jitter * random();
    let delayMs = ttlMs * PACE.renewAt;
    while (!this.#isStopped()) {
      await pause(clock, delayMs * jitter(), signal);
      const since = markOf(clock);
      try {
        await renew({ signal, timeoutMs: Math.min(PACE.answerMs, ttlMs * PACE.renewAt) });
        this.#prove(since);
        delayMs = ttlMs * PACE.renewAt;
      } catch (error) {
        if (this.#isStopped()) return;
        const isOver = error instanceof RollcallError && refusals.includes(codeOf(error));
        if (isOver) return this.#refuse(error);
        delayMs = Math.min(PACE.againMs, ttlMs / 10);
      }
    }
  }

  #isStopped(): boolean {
    return this.#stop.signal.aborted;
  }

  #prove(since: Mark): void {
    this.#since = since;
    if (!this.#isDoubted || this.leftMs() <= 0) return;
    this.#isDoubted = false;
    this.#watch();
    this.#options.onProof?.();
  }

  #refuse(error: RollcallError): void {
    this.stop();
    this.#options.onRefusal(error);
  }

  #watch(): void {
    if (this.#isStopped()) return;
    const leftMs = this.leftMs();
    if (leftMs <= 0) {
      this.#isDoubted = true;
      this.#options.onDoubt();
      return;
    }
    const delayMs = Math.min(PACE.watchdogMs, leftMs);
    this.#cancelWatchdog = this.#options.clock.after(delayMs, () => this.#watch());
  }
}

function marginMs(ttlMs: number): number {
  return Math.max(PACE.leastMarginMs, ttlMs * PACE.margin);
}
