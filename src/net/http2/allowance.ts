/**
 * How much of something that only costs us a client may do: so many at once, and then so many a
 * second. Beyond it the connection ends.
 */
import { ConnectionError, ERROR } from "./codes.ts";

export interface AllowanceLimits {
  readonly atOnce: number;
  readonly perSecond: number;
}

export class Allowance {
  readonly #perMs: number;
  readonly #what: string;
  #atOnce: number;
  #left: number;
  #filledAtMs = performance.now();

  constructor({ atOnce, perSecond }: AllowanceLimits, what: string) {
    this.#atOnce = atOnce;
    this.#left = atOnce;
    this.#perMs = perSecond / 1000;
    this.#what = what;
  }

  /** Throws when there is none left. */
  take(): void {
    this.#left -= 1;
    if (this.#left >= 0) return;
    const nowMs = performance.now();
    this.give(Math.floor((nowMs - this.#filledAtMs) * this.#perMs));
    this.#filledAtMs = nowMs;
    if (this.#left < 0)
      throw new ConnectionError(ERROR.ENHANCE_YOUR_CALM, `too many ${this.#what}`);
  }

  give(more = 1): void {
    this.#left = Math.min(this.#atOnce, this.#left + more);
  }

  /** More may come at once than before. */
  raise(atOnce: number): void {
    this.#left += atOnce - this.#atOnce;
    this.#atOnce = atOnce;
  }
}
