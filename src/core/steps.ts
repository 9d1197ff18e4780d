/** Work as a generator of steps, so that callers choose how it is done: in turns, or at once. */

/** Runs all steps now, and gives the result. In turns: machine/slices.ts. */
export function atOnce<Result>(steps: Iterator<unknown, Result>): Result {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}
