/**
 * The format of a log: what its events may say. Members of a cluster are upgraded one after the
 * other, and one of the version before must be able to read all that is written meanwhile. So the
 * log stays in its format, and what is new waits for the next one:
 *
 *   format n, members of versions n and n + 1 ──▶ all of n + 1 ──finalize──▶ format n + 1
 *
 * A log that begins with members of a version is in its newest format. A program refuses a log in a
 * format above those it knows, at the event that raises it or in a snapshot.
 *
 *   1  all from before there were formats
 *   2  `node.finalized`; `job.moved`: a job whose member is gone goes on at another one
 */
import { RollcallError } from "./errors.ts";
import type { State } from "./state.ts";

/** That this program reads: the oldest, and the newest, up to which it writes. */
export const FORMATS = [1, 2] as const;

/** Those of what waits for them. */
export const MOVING_JOBS = 2;

/** Whether what came with a format may be written to the log. */
export function writes(state: Pick<State, "format">, format: number): boolean {
  return state.format >= format;
}

/** Throws where this program does not know it. */
export function raiseFormat(state: State, format: number): void {
  checkFormat(format);
  state.format = Math.max(state.format, format);
}

export function checkFormat(format: number): void {
  if (format <= FORMATS[1]) return;
  const message = `the log is in format ${format}, this program reads up to ${FORMATS[1]}`;
  throw new RollcallError("STORAGE_TOO_NEW", message);
}
