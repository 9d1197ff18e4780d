/** Long work in short turns: others are served between them. */
import { setImmediate as othersAreServed } from "node:timers/promises";

/** Of one turn: what a caller that waits behind it does not notice. */
const TURN_MS = 4;
/** Steps between two looks at the clock. */
const STEPS = 32;

/** Runs to the end, and lets others be served every few milliseconds; gives what it returns. */
export async function inSlices<T>(work: Iterator<unknown, T>): Promise<T> {
  for (;;) {
    const endMs = performance.now() + TURN_MS;
    do {
      for (let i = 0; i < STEPS; i += 1) {
        const step = work.next();
        if (step.done) return step.value;
      }
    } while (performance.now() < endMs);
    await othersAreServed();
  }
}
