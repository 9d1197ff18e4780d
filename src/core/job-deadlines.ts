/**
 * The moment at which a job is looked at next. While it has not ended that is its nearest deadline;
 * afterwards the moment to forget it: a day after its end, or when too many ended after it, but not
 * while its idempotency key lives.
 */
import { earliest } from "./heap.ts";
import { isTerminal } from "./jobs/outcome.ts";
import type { Job, JobEntry, JobLimits, Jobs } from "./jobs.ts";
import type { State } from "./state.ts";

/** Jobs that one event forgets: it stays a few kilobytes long. */
const FORGOTTEN_AT_ONCE = 500;

/** Takes the settings of the daemon that leads; what ended before is kept by them, too. */
export function limitJobs({ jobs }: State, limits: JobLimits): void {
  const { finishedMs, keyTtlMs } = jobs.limits;
  jobs.limits = limits;
  if (finishedMs === limits.finishedMs && keyTtlMs === limits.keyTtlMs) return;
  for (const entry of jobs.byId.values()) if (isTerminal(entry.job.status)) setTimer(jobs, entry);
}

/** Sets the moment at which the job is looked at next. */
export function setTimer(jobs: Jobs, entry: JobEntry): void {
  const { job, timer } = entry;
  const isOver = isTerminal(job.status);
  const isKeyed = isOver && jobs.index.holdsKey(job);
  const heap = isOver ? (isKeyed ? jobs.keyed : jobs.ended) : jobs.deadlines;
  const { finishedMs, keyTtlMs } = jobs.limits;
  const forgetAtMs = isKeyed ? job.submittedAtMs + keyTtlMs : job.endedAtMs + finishedMs;
  // A grace since then is seen to when the moment has come (expireJob).
  const atMs = isOver ? forgetAtMs : jobDeadline(job);
  entry.heap?.remove(timer);
  entry.heap = atMs === Infinity ? undefined : heap;
  entry.heap?.move(timer, atMs);
}

/**
 * When it ends by itself, if nothing else happens. Its times start over with a grace (nodes.ts),
 * but for its lease, which ends at a date.
 */
export function jobDeadline(job: Job, grace?: JobGrace): number {
  const { leaseExpiresAtMs = Infinity, graceEndsAtMs = Infinity } = job;
  const cancelEndsAtMs = Math.max(graceEndsAtMs, grace ? grace.fromMs + grace.cancelGraceMs : 0);
  return Math.min(leaseExpiresAtMs, runsUntilMs(job, grace?.fromMs), cancelEndsAtMs);
}

/** When a running job has run for as long as it may. */
export function runsUntilMs(job: Job, graceFromMs = 0): number {
  const { maxRuntimeSec = Infinity } = job;
  if (job.status !== "running") return Infinity;
  return Math.max(job.startedAtMs, graceFromMs) + maxRuntimeSec * 1000;
}

export interface JobGrace {
  readonly fromMs: number;
  readonly cancelGraceMs: number;
}

export function graceOf({ graceFromMs: fromMs, jobs }: State): JobGrace {
  return { fromMs, cancelGraceMs: jobs.limits.cancelGraceMs };
}

/** At once where too many ended: a hundredth more than are kept, lest each end forgets a job. */
export function dueJob({ ended, keyed, deadlines, limits }: Jobs): number | undefined {
  const slack = Math.min(Math.floor(limits.finished / 100), FORGOTTEN_AT_ONCE);
  if (ended.size > limits.finished + slack) return 0;
  return earliest(deadlines.nextAt(), ended.nextAt(), keyed.nextAt());
}

/** Takes some jobs out of the heap that may be forgotten now, those that ended first. */
export function takeForgettable(jobs: Jobs, nowMs: number): readonly string[] {
  // A key that is no longer alive: from here on it is a job like the others that ended.
  for (let slot = jobs.keyed.takeDue(nowMs); slot; slot = jobs.keyed.takeDue(nowMs)) {
    const entry = jobs.byId.get(slot.value);
    if (!entry) continue;
    entry.heap = undefined;
    jobs.index.dropKey(entry.job);
    setTimer(jobs, entry);
  }
  const taken: string[] = [];
  while (taken.length < FORGOTTEN_AT_ONCE) {
    const isFull = jobs.ended.size > jobs.limits.finished;
    const slot = jobs.ended.takeDue(isFull ? Infinity : nowMs);
    if (!slot) break;
    taken.push(slot.value);
  }
  return taken;
}
