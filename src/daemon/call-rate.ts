/** How often each caller may call, by whatever door: one bucket for all of them. */
import { RollcallError } from "../core/errors.ts";
import { Rate } from "../core/rate.ts";
import type { Peer } from "../identity/caller.ts";
import { isLoopback } from "../net/loopback.ts";

/** Says when the bucket of the caller has something again. */
export class TooOften extends RollcallError {
  readonly retryAfterSeconds: number;

  constructor(caller: string, waitMs: number) {
    super("LIMIT_EXCEEDED", `${caller} makes too many requests; see rate_limit`);
    this.retryAfterSeconds = Math.max(1, Math.ceil(waitMs / 1000));
  }
}

export class CallRate {
  readonly #rate: Rate;
  readonly #monotonicMs: () => number;

  /** 0 for no limit. */
  constructor(perSecond: number, monotonicMs: () => number = () => performance.now()) {
    this.#rate = new Rate(perSecond);
    this.#monotonicMs = monotonicMs;
  }

  /** Counts one call of a principal; throws where it has none left. */
  take(caller: string): void {
    const nowMs = this.#monotonicMs();
    if (!this.#rate.take(caller, nowMs)) {
      throw new TooOften(caller, this.#rate.waitMs(caller, nowMs));
    }
  }

  /**
   * The same before it is known who calls. On this machine one user must not use up the rate of
   * another: there only principals count.
   */
  takeFrom({ address, isOwnSocket }: Peer): void {
    if (address !== undefined && !isOwnSocket && !isLoopback(address)) this.take(address);
  }
}
