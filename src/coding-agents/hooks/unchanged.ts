/**
 * What was read of a file or a folder, for as long as that is as it was: then one question to the
 * system is enough, where reading it anew takes many.
 *
 * Its time of change is only as fine as the clock of its disk: of two changes within one tick, the
 * second does not show. So a time that is young proves nothing, and nothing is kept.
 */
import { statSync } from "node:fs";
import { UNCHANGED } from "./limits.ts";

interface KeptReading<Reading> {
  readonly path: string;
  readonly changedMs: number;
  readonly reading: Reading;
}

export class Unchanged<Reading> {
  #kept: KeptReading<Reading> | undefined;

  /** The reading of this path: the last one, or a new one if it may be another. */
  read(path: string, readAnew: () => Reading): Reading {
    // Before it is read: a change in between is later than this, and seen the next time.
    const changedMs = changedMsOf(path);
    const kept = this.#kept;
    if (kept?.path === path && kept.changedMs === changedMs) return kept.reading;
    const reading = readAnew();
    const isOld = changedMs !== undefined && Date.now() - changedMs > UNCHANGED.tickMs;
    this.#kept = isOld ? { path, changedMs, reading } : undefined;
    return reading;
  }
}

/** Not the time of modification, which programs may set. */
function changedMsOf(path: string): number | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false })?.ctimeMs;
  } catch {
    return undefined;
  }
}
