/**
 * Watchers that wait and have something to see, each once, in their order. Some are woken at once
 * and the next in the next turn of the event loop: callers are answered in between, and a watcher
 * whose turn comes later is shown at once what became durable meanwhile. So when events come faster
 * than they can be written to all connections, each connection is written to less often.
 */
import { WATCH } from "../core/limits.ts";

interface Sleeper {
  takeTurn(): void;
}

export class WakeRound {
  readonly #waiting = new Set<Sleeper>();
  #isUnderWay = false;

  add(sleeper: Sleeper): void {
    this.#waiting.add(sleeper);
  }

  /** The first ones now: where they are few, none is put off. */
  start(): void {
    if (!this.#isUnderWay) this.#goOn();
  }

  readonly #goOn = (): void => {
    let left: number = WATCH.wakesAtOnce;
    this.#isUnderWay = this.#waiting.size > left;
    if (this.#isUnderWay) setImmediate(this.#goOn);
    for (const sleeper of this.#waiting) {
      if (left === 0) return;
      left -= 1;
      this.#waiting.delete(sleeper);
      sleeper.takeTurn();
    }
  };
}
