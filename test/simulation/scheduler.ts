/**
 * Virtual time: a queue of what happens when. One step is one call from the queue, followed by
 * everything that its promises set off; nothing else ever runs, so a run depends on its seed alone.
 *
 *   next in the queue ──▶ now is its time ──▶ call ──▶ promises come to rest ──▶ next …
 */

interface Entry {
  readonly atMs: number;
  /** What was asked for first happens first. */
  readonly order: number;
  readonly call: () => void;
  isCancelled: boolean;
}

export class Scheduler {
  readonly #queue: Entry[] = [];
  #order = 0;
  nowMs = 0;
  /** How many steps were taken: the order of all that happened, finer than time. */
  steps = 0;

  /** Calls once, later; returns how to cancel. */
  after(delayMs: number, call: () => void): () => void {
    this.#order += 1;
    const atMs = this.nowMs + Math.max(0, delayMs);
    const entry: Entry = { atMs, order: this.#order, call, isCancelled: false };
    this.#push(entry);
    return () => {
      entry.isCancelled = true;
    };
  }

  sleep(delayMs: number): Promise<void> {
    return new Promise((resolve) => this.after(delayMs, resolve));
  }

  /** Lets time go by until `untilMs`, or until `isOver` says so. */
  async run(untilMs: number, isOver: () => boolean = () => false): Promise<void> {
    await atRest();
    for (let next = this.#queue[0]; next && !isOver(); next = this.#queue[0]) {
      if (next.atMs > untilMs) break;
      this.#pop();
      if (next.isCancelled) continue;
      this.nowMs = next.atMs;
      this.steps += 1;
      next.call();
      await atRest();
    }
    if (!isOver()) this.nowMs = Math.max(this.nowMs, untilMs);
  }

  #push(entry: Entry): void {
    const queue = this.#queue;
    let place = queue.push(entry) - 1;
    while (place > 0) {
      const above = (place - 1) >> 1;
      if (!this.#swapIfLater(above, place)) return;
      place = above;
    }
  }

  #pop(): void {
    const queue = this.#queue;
    const last = queue.pop();
    if (!last || queue.length === 0) return;
    queue[0] = last;
    for (let place = 0; ;) {
      const left = 2 * place + 1;
      const smaller = this.#isLater(left, left + 1) ? left + 1 : left;
      if (!this.#swapIfLater(place, smaller)) return;
      place = smaller;
    }
  }

  #swapIfLater(above: number, below: number): boolean {
    const [a, b] = [this.#queue[above], this.#queue[below]];
    if (!a || !b || !this.#isLater(above, below)) return false;
    this.#queue[above] = b;
    this.#queue[below] = a;
    return true;
  }

  #isLater(one: number, other: number): boolean {
    const [a, b] = [this.#queue[one], this.#queue[other]];
    if (!a || !b) return false;
    return a.atMs === b.atMs ? a.order > b.order : a.atMs > b.atMs;
  }
}

/** Resolves when no promise has anything left to do. */
function atRest(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
