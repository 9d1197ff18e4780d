/** Callers pass while it is open; while it is shut they wait for it, but not for ever. */
import type { Clock } from "../core/clock.ts";

export class Latch {
  readonly #clock: Clock;
  readonly #waiting = new Set<() => void>();
  #isOpen = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  open(): void {
    this.#isOpen = true;
    for (const pass of this.#waiting) pass();
    this.#waiting.clear();
  }

  shut(): void {
    this.#isOpen = false;
  }

  /** Resolves with whether it opened in time. */
  opened(withinMs: number): Promise<boolean> {
    if (this.#isOpen) return Promise.resolve(true);
    return new Promise((resolve) => {
      const cancel = this.#clock.after(withinMs, () => {
        this.#waiting.delete(pass);
        resolve(false);
      });
      const pass = () => {
        cancel();
        resolve(true);
      };
      this.#waiting.add(pass);
    });
  }
}
