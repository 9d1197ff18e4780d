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
    const step = () => !isOver() && this.#step(untilMs);
    for (let steps = 1; await inOneTurn(step, steps);) steps = Math.min(2 * steps, STEPS_A_TURN);
    if (!isOver()) this.nowMs = Math.max(this.nowMs, untilMs);
  }

  /** Whether there was something to do. */
  #step(untilMs: number): boolean {
    for (let next = this.#queue[0]; next && next.atMs <= untilMs; next = this.#queue[0]) {
      this.#pop();
      if (next.isCancelled) continue;
      this.nowMs = next.atMs;
      this.steps += 1;
      next.call();
      return true;
    }
    return false;
  }

  /** The place moves up from the end of the heap to where the entry belongs. */
  #push(entry: Entry): void {
    const queue = this.#queue;
    let place = queue.length;
    while (place > 0) {
      const above = (place - 1) >> 1;
      const parent = queue[above];
      if (!parent || !isLater(parent, entry)) break;
      queue[place] = parent;
      place = above;
    }
    queue[place] = entry;
  }

  /** The place moves down from the top of the heap to where the last entry belongs. */
  #pop(): void {
    const queue = this.#queue;
    const entry = queue.pop();
    if (!entry || queue.length === 0) return;
    let place = 0;
    for (;;) {
      let below = 2 * place + 1;
      let child = queue[below];
      const other = queue[below + 1];
      if (!child) break;
      if (other && isLater(child, other)) {
        child = other;
        below += 1;
      }
      if (!isLater(entry, child)) break;
      queue[place] = child;
      place = below;
    }
    queue[place] = entry;
  }
}

function isLater(a: Entry, b: Entry): boolean {
  return a.atMs === b.atMs ? a.order > b.order : a.atMs > b.atMs;
}

/** A turn of the event loop costs as much as a step does: so many steps share one. */
const STEPS_A_TURN = 100;

/**
 * Takes steps in callbacks of their own: before each of them no promise has anything left to do.
 * Stops when one says so or throws; resolves with whether there may be more.
 */
function inOneTurn(step: () => boolean, steps: number): Promise<boolean> {
  return new Promise((resolve, reject) => {
    let isGoing = true;
    const take = () => {
      if (!isGoing) return;
      try {
        isGoing = step();
      } catch (error) {
        isGoing = false;
        reject(error instanceof Error ? error : new Error(String(error)));
      }
    };
    for (let i = 0; i < steps; i += 1) setImmediate(take);
    setImmediate(() => resolve(isGoing));
  });
}
