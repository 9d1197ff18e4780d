/**
 * When a node may try to lead: once the leader has been silent for longer than this node's
 * patience, and not too soon after a try that failed. Chance keeps nodes from trying in the same
 * moment.
 */
import type { Clock } from "../core/clock.ts";
import type { FailoverTimes } from "../core/limits.ts";

export interface TurnOptions {
  readonly clock: Clock;
  readonly random: () => number;
  readonly times: FailoverTimes;
}

export class Turn {
  readonly #options: TurnOptions;
  #spreadMs = 0;
  #nextTryMs = 0;
  #wake: () => void = () => undefined;

  constructor(options: TurnOptions) {
    this.#options = options;
  }

  /**
   * A node begins to follow, or another one leads. Whoever is more patient than the next leader
   * stays a follower: were it to draw once, it would be so for ever, and the others would wait.
   */
  begin(): void {
    const { random, times } = this.#options;
    this.#spreadMs = times.spreadMs * random();
  }

  /** A try to lead failed. */
  missed(): void {
    const { clock, random, times } = this.#options;
    this.#nextTryMs = clock.monotonicMs() + times.silenceMs * random();
  }

  /** Another is to lead: this one tries again only if by then none does. */
  rest(): void {
    const { clock, times } = this.#options;
    this.#nextTryMs = clock.monotonicMs() + times.silenceMs + times.spreadMs;
  }

  /** `silentMs` is how long no leader was heard of, by a follower that is patient for so long. */
  inMs(silentMs: number, patienceMs = 0): number {
    const { clock, times } = this.#options;
    const untilNextTryMs = this.#nextTryMs - clock.monotonicMs();
    const enoughMs = Math.max(times.silenceMs, patienceMs) + this.#spreadMs;
    return Math.max(untilNextTryMs, enoughMs - silentMs);
  }

  /** Waits for so long, or until somebody calls `hurry`. */
  wait(delayMs: number): Promise<void> {
    return new Promise((resolve) => {
      const cancel = this.#options.clock.after(Math.max(1, delayMs), resolve);
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
