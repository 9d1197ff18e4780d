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
 *   2  `node.finalized`; `job.moved`: a job whose member is gone goes on at another one; jobs of
 *      outposts (`outpost.job_told`, `outpost.jobs_forgotten`)
 *
 * A log that no members share has no older reader: there nothing waits but what needs members.
 */
import { RollcallError } from "./errors.ts";
import type { Topic } from "./events.ts";
import type { State } from "./state.ts";

/** That this program reads: the oldest, and the newest, up to which it writes. */
export const FORMATS = [1, 2] as const;

/** Those of what waits for them. */
export const MOVING_JOBS = 2;
const HOST_JOBS = 2;

/** The format that an event came with; absent: the first. */
export const SINCE: Readonly<Partial<Record<Topic, number>>> = {
  "node.finalized": 2,
  "job.moved": MOVING_JOBS,
  "outpost.job_told": HOST_JOBS,
  "outpost.jobs_forgotten": HOST_JOBS,
};

/**
 * The snapshots that the oldest program which must read such a log can read. Of the first format
 * they grow with what is in them, as the program of one machine goes on by itself.
 */
export function snapshotVersion({ format, hostJobs }: Pick<State, "format" | "hostJobs">): number {
  if (format >= 2) return 10;
  return hostJobs.byId.size > 0 ? 9 : 8;
}

/** Whether what came with a format may be written to the log. */
export function writes(state: Pick<State, "format">, format: number): boolean {
  return state.format >= format;
}

/** Also where no members share the log, and where it has some from before it was shared. */
export function writesHostJobs(state: State): boolean {
  const { members, hostJobs } = state;
  return writes(state, HOST_JOBS) || members.byNode.size === 0 || hostJobs.byId.size > 0;
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
