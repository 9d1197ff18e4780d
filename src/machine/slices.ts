/** Long work in short turns: others are served between them. */
import { setImmediate as nextTurn } from "node:timers/promises";

/** Of one turn: what a caller that waits behind it does not notice. */
const TURN_MS = 4;
/** Steps between two looks at the clock, */
const STEPS = 32;
/** and those of work of which one step may take as long as a turn, as reading a card does. */
export const LONG_STEPS = 1;

/** A turn of long work that waits for things in between: asks now and then whether it is over. */
class Slice {
  #endMs = performance.now() + TURN_MS;

  get isOver(): boolean {
    return performance.now() >= this.#endMs;
  }

  /** Others are served; then the next turn begins. */
  async next(): Promise<void> {
    await othersAreServed();
    this.#endMs = performance.now() + TURN_MS;
  }
}

/** Between two parts of work that wait for nothing else. */
export async function othersAreServed(): Promise<void> {
  await nextTurn();
}

/** Runs to the end, and lets others be served every few milliseconds; gives what it returns. */
export async function inSlices<T>(work: Iterator<unknown, T>, steps = STEPS): Promise<T> {
  const slice = new Slice();
  for (;;) {
    for (let i = 0; i < steps; i += 1) {
      const step = work.next();
      if (step.done) return step.value;
    }
    if (slice.isOver) await slice.next();
  }
}
