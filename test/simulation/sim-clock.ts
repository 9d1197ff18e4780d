/**
 * A machine's clocks, both made from virtual time: a monotonic one that runs a little fast or slow,
 * and one on the wall that now and then is set forward or back.
 */
import type { Clock } from "../../src/core/clock.ts";
import type { Process } from "./process.ts";
import type { Scheduler } from "./scheduler.ts";

/** An arbitrary morning. */
const START_MS = 1_700_000_000_000;

/** How far a clock may be from running true. */
export const MAX_DRIFT = 0.05;

export class SimClock {
  readonly #scheduler: Scheduler;
  /** How fast it runs: 1 is true. */
  readonly #rate: number;
  #wallOffsetMs: number;

  constructor(scheduler: Scheduler, rate: number, wallOffsetMs: number) {
    this.#scheduler = scheduler;
    this.#rate = rate;
    this.#wallOffsetMs = wallOffsetMs;
  }

  /** Somebody sets the clock on the wall. */
  jump(byMs: number): void {
    this.#wallOffsetMs += byMs;
  }

  /** The clocks, as one process of this machine sees them. */
  of(process: Process): Clock {
    const scheduler = this.#scheduler;
    return {
      wallMs: () => START_MS + scheduler.nowMs + this.#wallOffsetMs,
      monotonicMs: () => 1000 + scheduler.nowMs * this.#rate,
      soon: (call) => void scheduler.after(0, () => process.enter(call)),
      after: (delayMs, call) => {
        let isCancelled = false;
        const ring = () => {
          if (!isCancelled) call();
        };
        const cancel = scheduler.after(delayMs / this.#rate, () => process.enter(ring));
        return () => {
          isCancelled = true;
          cancel();
        };
      },
    };
  }
}
