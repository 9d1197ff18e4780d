/** Pages of the jobs that a caller sees, in the order in which they were made. */
import { JOB_LISTING } from "./jobs/limits.ts";
import type { JobStatus } from "./jobs/outcome.ts";
import type { Job, Jobs } from "./jobs.ts";
import type { Sight } from "./visibility.ts";

export interface JobFilter {
  readonly statuses?: readonly JobStatus[] | undefined;
  /** A bare name means every version of it. */
  readonly agent?: string | undefined;
  /** Both bounds are strict. */
  readonly createdAfterMs?: number | undefined;
  readonly createdBeforeMs?: number | undefined;
}

export interface JobQuery {
  readonly filter: JobFilter;
  readonly limit: number;
  /** The id of the last job of the page before. */
  readonly after: string | undefined;
}

export interface JobPage {
  readonly jobs: readonly Job[];
  /** Where the next page begins; undefined at the end. */
  readonly next: string | undefined;
}

/** A filter that matches little gives a short page and a cursor, so that no page costs too much. */
export function pageOfJobs(jobs: Jobs, sight: Sight, query: JobQuery): JobPage {
  const found: Job[] = [];
  let length = 0;
  let scanned = 0;
  let last: string | undefined;
  for (const id of jobs.index.after(sight, query.after)) {
    // There is one more, so this is where the next page begins.
    const isFull =
      found.length === query.limit ||
      length >= JOB_LISTING.pageLength ||
      scanned === JOB_LISTING.scanned;
    if (isFull) return { jobs: found, next: last };
    const job = jobs.byId.get(id)?.job;
    scanned += 1;
    last = id;
    if (!job || !matchesFilter(job, query.filter)) continue;
    found.push(job);
    length += lengthOf(job);
  }
  return { jobs: found, next: undefined };
}

/** About how long its entry is; most leases are empty. */
function lengthOf({ lease = {} }: Job): number {
  for (const _ in lease) return JOB_LISTING.entryLength + JSON.stringify(lease).length;
  return JOB_LISTING.entryLength;
}

export function matchesFilter(job: Job, filter: JobFilter): boolean {
  const { statuses, agent, createdAfterMs, createdBeforeMs } = filter;
  if (statuses && !statuses.includes(job.status)) return false;
  if (agent !== undefined && agent !== job.agent && !job.agent.startsWith(`${agent}@`))
    return false;
  if (createdAfterMs !== undefined && job.submittedAtMs <= createdAfterMs) return false;
  return createdBeforeMs === undefined || job.submittedAtMs < createdBeforeMs;
}

/** The part of a job that every principal who may see it sees. */
export type JobSummary = Pick<
  Job,
  | "id"
  | "agent"
  | "principal"
  | "node"
  | "parent"
  | "status"
  | "submittedAtMs"
  | "startedAtMs"
  | "endedAtMs"
  | "restarts"
  | "code"
  | "reason"
> & {
  /** The machine whose outpost tells of it; empty for one of this daemon. */
  readonly host: string;
  /** Since when that machine is silent; 0 while it is heard. */
  readonly silentSinceMs: number;
};

export function summaryOf(job: Job): JobSummary {
  const { id, agent, principal, node, parent, status } = job;
  const { submittedAtMs, startedAtMs, endedAtMs, restarts, code, reason } = job;
  return {
    id,
    agent,
    principal,
    node,
    host: "",
    silentSinceMs: 0,
    parent,
    status,
    submittedAtMs,
    startedAtMs,
    endedAtMs,
    restarts,
    code,
    reason,
  };
}
