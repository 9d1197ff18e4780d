/** Long work in short turns: others are served between them. */
import type { Clock } from "../core/clock.ts";

/** Of one turn: what a caller that waits behind it does not notice. */
const TURN_MS = 4;
/** Steps between two looks at the clock. */
const STEPS = 32;

/** Runs to the end, and yields to others after a few milliseconds; gives what it returns. */
export async function inSlices<T>(
  clock: Pick<Clock, "monotonicMs" | "soon">,
  work: Iterator<unknown, T>,
): Promise<T> {
  for (;;) {
    const endMs = clock.monotonicMs() + TURN_MS;
    do {
      for (let i = 0; i < STEPS; i += 1) {
        const step = work.next();
        if (step.done) return step.value;
      }
    } while (clock.monotonicMs() < endMs);
    await new Promise<void>((resolve) => clock.soon(resolve));
  }
}
