/** Waits for what must come true: looks again and again, and gives up with a sentence. */
// tidy-allow sleep: between two looks at what other processes do
import { setTimeout as pause } from "node:timers/promises";

/** Real processes on a machine that may be busy. */
const DEADLINE_MS = 60_000;
const LOOK_EVERY_MS = 25;

export interface Patience {
  /** Once it says yes there is nothing more to come. */
  readonly isOver?: () => boolean;
  readonly withinMs?: number;
}

/** What `look` found; it has found nothing as long as it throws or returns undefined. */
export async function until<Found>(
  what: string,
  look: () => Promise<Found | undefined> | Found | undefined,
  { isOver = () => false, withinMs = DEADLINE_MS }: Patience = {},
): Promise<Found> {
  const deadlineMs = performance.now() + withinMs;
  for (;;) {
    const isLast = isOver() || performance.now() > deadlineMs;
    let cause: unknown;
    try {
      const found = await look();
      if (found !== undefined) return found;
    } catch (error) {
      cause = error;
    }
    if (isLast) {
      const why = cause instanceof Error ? `: ${cause.message}` : "";
      throw new Error(`waited in vain for ${what}${why}`, { cause });
    }
    await pause(LOOK_EVERY_MS);
  }
}
