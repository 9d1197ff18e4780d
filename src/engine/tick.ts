/** The one timer of a term, which a nearer deadline brings forward. */
import type { Clock, EngineTime } from "../core/clock.ts";

interface TickOptions {
  readonly clock: Clock;
  readonly time: EngineTime;
  readonly onTick: () => void;
}

export class Tick {
  readonly #options: TickOptions;
  #atMs = Infinity;
  #cancel: () => void = () => undefined;
  #isStopped = false;

  constructor(options: TickOptions) {
    this.#options = options;
  }

  /** Instead of the time that was set before. */
  in(delayMs: number): void {
    if (this.#isStopped) return;
    const { clock, time, onTick } = this.#options;
    const inMs = Math.max(1, delayMs);
    this.#cancel();
    this.#atMs = time.quickMs() + inMs;
    this.#cancel = clock.after(inMs, onTick);
  }

  /** A deadline before the next tick brings the tick forward. */
  expect(atMs: number): void {
    if (atMs < this.#atMs) this.in(atMs - this.#options.time.quickMs());
  }

  stop(): void {
    this.#isStopped = true;
    this.#cancel();
  }
}
