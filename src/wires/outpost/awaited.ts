/**
 * Something that is waited for in several goes, each for a while: a link that is idle for days asks
 * every few seconds whether there is news, and must not leave a trace of each time on the promise.
 */
import type { Clock } from "../../core/clock.ts";

export class Awaited<T> {
  readonly #work: Promise<T>;
  #isOver = false;
  #ring: () => void = () => undefined;

  constructor(work: Promise<T>) {
    this.#work = work;
    const end = () => {
      this.#isOver = true;
      this.#ring();
    };
    work.then(end, end);
  }

  /** Nothing when it takes longer; one at a time may wait. */
  async within(clock: Clock, ms: number): Promise<T | undefined> {
    if (!this.#isOver) {
      await new Promise<void>((resolve) => {
        const cancel = clock.after(ms, resolve);
        this.#ring = () => {
          cancel();
          resolve();
        };
      });
    }
    return this.#isOver ? this.#work : undefined;
  }
}
