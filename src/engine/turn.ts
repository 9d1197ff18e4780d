/**
 * When a node may try to lead: once the leader has been silent for longer than this node's
 * patience, and not too soon after a try that failed. Chance keeps nodes from trying in the same
 * moment.
 */
import { ENGINE } from "../core/limits.ts";
import type { Clock } from "../core/clock.ts";

export class Turn {
  readonly #clock: Clock;
  readonly #random: () => number;
  #patienceMs = 0;
  #nextTryMs = 0;
  #wake: () => void = () => undefined;

  constructor(clock: Clock, random: () => number) {
    this.#clock = clock;
    this.#random = random;
  }

  /** A node begins to follow. */
  begin(): void {
    this.#patienceMs = ENGINE.silenceMs * (1 + this.#random());
  }

  /** A try to lead failed. */
  missed(): void {
    this.#nextTryMs = this.#clock.monotonicMs() + ENGINE.silenceMs * this.#random();
  }

  /** `silentMs` is how long no leader was heard of. */
  inMs(silentMs: number): number {
    const untilNextTryMs = this.#nextTryMs - this.#clock.monotonicMs();
    return Math.max(untilNextTryMs, this.#patienceMs - silentMs);
  }

  /** Waits for so long, or until somebody calls `hurry`. */
  wait(delayMs: number): Promise<void> {
    return new Promise((resolve) => {
      const cancel = this.#clock.after(Math.max(1, delayMs), resolve);
      this.#wake = () => {
        cancel();
        resolve();
      };
    });
  }

  hurry(): void {
    this.#wake();
  }
}
