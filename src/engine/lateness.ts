/**
 * How late the signs of life of a leader come, as a follower hears them. A leader promises one
 * every tick; what comes later was held up by the log or by a busy machine, and a follower that
 * took it for a death would depose a leader that lives. So patience grows with lateness. One late
 * sign among many is an accident, and does not count.
 */
import { LATENESS } from "../core/limits.ts";

export class Lateness {
  readonly #tickMs: number;
  /** Of the last signs, in no order. */
  readonly #lateMs: number[] = [];
  #next = 0;

  constructor(tickMs: number) {
    this.#tickMs = tickMs;
  }

  /** So long after the one before it a sign of the same leader was heard. */
  heard(afterMs: number): void {
    this.#lateMs[this.#next] = Math.max(0, afterMs - this.#tickMs);
    this.#next = (this.#next + 1) % LATENESS.signs;
  }

  /** How long a follower of this leader should be patient at least. */
  get patienceMs(): number {
    const sorted = this.#lateMs.toSorted((a, b) => a - b);
    const usual = sorted[sorted.length - 2] ?? 0;
    return Math.min(LATENESS.factor * usual, LATENESS.mostMs);
  }
}
