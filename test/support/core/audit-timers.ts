/** Timers and sizes of heaps, for the audits of all nouns. */
import type { Slot } from "../../../src/core/heap.ts";

/** A timer may ring early, never late. */
export function timerProblems(
  what: string,
  { at, place }: Slot<string>,
  deadlineMs: number,
): string[] {
  if (place < 0) return [`${what} has no timer`];
  return at > deadlineMs ? [`${what} rings at ${at}, due at ${deadlineMs}`] : [];
}

export function sizeProblem(
  what: string,
  { size }: { readonly size: number },
  expected: number,
): string[] {
  return size === expected ? [] : [`${what}: ${size} instead of ${expected}`];
}
