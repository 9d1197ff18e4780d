/**
 * The jobs of all daemons as everybody may know them: who has what done by whom, and how it went.
 * What a job says and gives is not here but in the journal of the daemon that runs it.
 *
 *   told ──▶ pending ──▶ running ──▶ over ──a day, or too many──▶ forgotten
 *                └────────────────────▲
 *
 * A daemon tells how a job IS, as often as it likes, and the rules make of it what HAPPENED: the
 * same told twice is told once, and what a crash kept from being told is made up for by telling
 * all jobs again. One that was forgotten here may still be known there for a while; since those
 * that ended first are forgotten first, one moment is enough to remember all of them by.
 */
import { decided, type Decision, type Moment } from "./decide.ts";
import type { Event } from "./events.ts";
import { atMost, invalid, key, line, type Problem } from "./fields.ts";
import { Heap, type Slot } from "./heap.ts";
import { isJobStatus, isTerminal, type JobStatus } from "./jobs/outcome.ts";
import { COUNT, FIELD, RETENTION } from "./limits.ts";
import type { State } from "./state.ts";

export interface JobRecord {
  readonly id: string;
  /** `name@version`, or the bare name. */
  readonly agent: string;
  readonly principal: string;
  /** The daemon that runs it. */
  readonly node: string;
  /** The job that delegated it; empty for none. */
  readonly parent: string;
  readonly status: JobStatus;
  readonly submittedAtMs: number;
  /** 0 until it starts. */
  readonly startedAtMs: number;
  /** 0 until it is over. */
  readonly endedAtMs: number;
  /** How often it was started anew because its daemon had died. */
  readonly restarts: number;
  /** Why it did not succeed, where it did not: a code, and a sentence. */
  readonly code: string;
  readonly reason: string;
}

export interface JobRecordEntry {
  job: JobRecord;
  /** Rings when one that is over may be forgotten. */
  readonly timer: Slot<string>;
}

export class JobRecords {
  readonly byId = new Map<string, JobRecordEntry>();
  /** Those that are over, in the order in which they ended. */
  readonly ended = new Heap<string>();
  running = 0;
  /** What ended up to this moment and is not here was forgotten. */
  forgottenThroughMs = 0;

  get unfinished(): number {
    return this.byId.size - this.ended.size;
  }
}

export interface JobCommand {
  readonly type: "job.track";
  /** Each as it is now, and once. */
  readonly jobs: readonly JobRecord[];
}

export interface JobReplies {
  /** Those there was no room for: to be told again later. */
  "job.track": { readonly left: readonly string[] };
}

export type JobRecordEvent =
  | {
      readonly type: "job.submitted" | "job.started" | "job.ended";
      readonly job: JobRecord;
    }
  | { readonly type: "job.forgotten"; readonly jobId: string };

export function decideJob(
  { jobs }: State,
  command: JobCommand,
  { nowMs }: Moment,
): Decision<Event, JobReplies["job.track"]> {
  const refusal = invalid(
    atMost("jobs", command.jobs.length, FIELD.jobs),
    new Set(command.jobs.map(({ id }) => id)).size === command.jobs.length
      ? undefined
      : "jobs names one twice",
    ...command.jobs.flatMap(problemsOf),
  );
  if (refusal) return refusal;
  const events: Event[] = [];
  const left: string[] = [];
  let room = COUNT.unfinishedJobs - jobs.unfinished;
  for (const told of command.jobs) {
    const before = jobs.byId.get(told.id)?.job;
    const isOver = isTerminal(told.status);
    if (!before && isOver && told.endedAtMs <= jobs.forgottenThroughMs) continue;
    if (!before && !isOver && room <= 0) {
      left.push(told.id);
      continue;
    }
    if (!before && !isOver) room -= 1;
    events.push(...newsOf(before, { ...told, endedAtMs: Math.min(told.endedAtMs, nowMs) }));
  }
  return decided(events, { left });
}

/** What must have happened since. */
function newsOf(before: JobRecord | undefined, job: JobRecord): readonly Event[] {
  if (before && isTerminal(before.status)) return [];
  const events: Event[] = [];
  const open = { ...job, endedAtMs: 0, code: "", reason: "" };
  if (!before) {
    events.push({ type: "job.submitted", job: { ...open, status: "pending", startedAtMs: 0 } });
  }
  const isAgain = before !== undefined && job.restarts > before.restarts;
  const isStarted = before !== undefined && before.startedAtMs > 0 && !isAgain;
  if (job.startedAtMs > 0 && !isStarted) {
    events.push({ type: "job.started", job: { ...open, status: "running" } });
  }
  if (isTerminal(job.status)) {
    // Whoever told of the start knew when; after a crash nobody else does.
    const startedAtMs = job.startedAtMs || (before?.startedAtMs ?? 0);
    events.push({ type: "job.ended", job: { ...job, startedAtMs } });
  }
  return events;
}

export function evolveJob(state: State, event: JobRecordEvent): void {
  const { jobs } = state;
  switch (event.type) {
    case "job.submitted":
    case "job.started":
    case "job.ended":
      remove(jobs, event.job.id);
      restoreJob(state, event.job);
      return;
    case "job.forgotten": {
      const { endedAtMs = 0 } = jobs.byId.get(event.jobId)?.job ?? {};
      jobs.forgottenThroughMs = Math.max(jobs.forgottenThroughMs, endedAtMs);
      remove(jobs, event.jobId);
      return;
    }
  }
}

export function restoreJob({ jobs }: State, job: JobRecord): void {
  const timer = jobs.ended.add(job.endedAtMs + RETENTION.endedJobMs, job.id);
  if (!isTerminal(job.status)) jobs.ended.remove(timer);
  if (job.status === "running") jobs.running += 1;
  jobs.byId.set(job.id, { job, timer });
}

function remove(jobs: JobRecords, id: string): void {
  const entry = jobs.byId.get(id);
  if (!entry) return;
  if (entry.job.status === "running") jobs.running -= 1;
  jobs.ended.remove(entry.timer);
  jobs.byId.delete(id);
}

/** At once where there are more than are kept. */
export function dueJob({ ended }: JobRecords): number | undefined {
  return ended.size > RETENTION.endedJobs ? 0 : ended.nextAt();
}

export function expireJob({ jobs }: State, nowMs: number): readonly Event[] {
  const jobId = jobs.ended.first();
  const dueMs = dueJob(jobs);
  if (jobId === undefined || dueMs === undefined || dueMs > nowMs) return [];
  return [{ type: "job.forgotten", jobId }];
}

function problemsOf(job: JobRecord): Problem[] {
  return [
    key("job.id", job.id, FIELD.nameLength),
    key("job.agent", job.agent),
    key("job.principal", job.principal),
    key("job.node", job.node, FIELD.nameLength),
    line("job.parent", job.parent, FIELD.nameLength),
    line("job.code", job.code, FIELD.nameLength),
    line("job.reason", job.reason, FIELD.reasonLength),
    isJobStatus(job.status) ? undefined : "job.status is none of a job",
    ...([job.submittedAtMs, job.startedAtMs, job.endedAtMs, job.restarts].every(isWhole)
      ? []
      : ["a number of a job is not a whole one from 0 up"]),
  ];
}

function isWhole(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 0;
}
