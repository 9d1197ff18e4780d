/**
 * Jobs of other machines, as their outposts tell of them. They run, wait and end there, by the
 * rules of that machine's own engine; here they are only shown.
 *
 *   told ──▶ unfinished ──told──▶ ended ──a day, or too many of its host──▶ forgotten
 *                └── its host no longer knows it, or is forgotten itself ───────▲
 *
 * The id of one is that of its machine with the host behind it (`job_01KZ4TA0@box`), so that the
 * jobs of all machines stand in one list, and a cancel finds the machine that it is for.
 */
import type { Moment } from "./decide.ts";
import type { Event } from "./events.ts";
import { invalid, key, line, type Problem } from "./fields.ts";
import { writesHostJobs } from "./formats.ts";
import { Heap, type Slot } from "./heap.ts";
import { IndexBy } from "./index-by.ts";
import { agentRowId } from "./agent-jobs.ts";
import { isTerminal, JOB_STATUSES } from "./jobs/outcome.ts";
import { summaryOf, type JobSummary } from "./job-listing.ts";
import type { Job } from "./jobs.ts";
import { FIELD, FLEET, OUTPOST, RETENTION } from "./limits.ts";
import type { Refused } from "./outpost-reports.ts";
import type { State } from "./state.ts";

/** A job as its outpost sends it: with the ids of its own machine. */
export type SentJob = Omit<JobSummary, "node" | "host" | "silentSinceMs">;

/** As it is kept here; its node is its host. */
export type HostJob = Omit<JobSummary, "silentSinceMs">;

export interface HostJobEntry {
  readonly job: HostJob;
  /** Rings when one that ended may be forgotten. */
  readonly timer: Slot<string>;
}

export class HostJobs {
  readonly byId = new Map<string, HostJobEntry>();
  readonly ofHost = new IndexBy();
  /** By the row of the fleet that the agent has. */
  readonly ofRow = new IndexBy();
  /** Of each host, those that ended, in the order in which they did. */
  readonly endedOf = new IndexBy();
  readonly ended = new Heap<string>();
}

export type HostJobEvent =
  | { readonly type: "outpost.job_told"; readonly job: HostJob }
  | { readonly type: "outpost.jobs_forgotten"; readonly jobIds: readonly string[] };

/** What an outpost says of its jobs at once. */
export interface SentJobs {
  readonly host: string;
  readonly shiftMs: number;
  readonly jobs: readonly SentJob[];
  /** Ids, as they are here, of those that it no longer knows. */
  readonly gone: readonly string[];
}

interface TakenJobs {
  readonly events: readonly Event[];
  readonly refused: readonly Refused[];
}

/** The name that something of a machine has here. */
export function withHost(name: string, host: string): string {
  return `${name}@${host}`;
}

/** The machine of a job, and its id there; nothing for one of this daemon. */
export function placeOfJob(
  id: string,
): { readonly host: string; readonly jobId: string } | undefined {
  const [, jobId, host] = /^(job_[^@]+)@(.+)$/.exec(id) ?? [];
  return jobId === undefined || host === undefined ? undefined : { host, jobId };
}

/** A job of this daemon, or of a machine that reports to it. */
export function jobSummary(state: State, job: Job | HostJob): JobSummary {
  if (!("host" in job)) return summaryOf(job);
  const silentSinceMs = state.outposts.byHost.get(job.host)?.outpost.silentSinceMs ?? 0;
  return { ...job, silentSinceMs };
}

export function takeJobs(state: State, sent: SentJobs, { nowMs }: Moment): TakenJobs {
  const { hostJobs } = state;
  const { host } = sent;
  if (!writesHostJobs(state)) {
    return { events: [], refused: sent.jobs.map(({ id }) => tooOld(withHost(id, host))) };
  }
  const events: Event[] = [];
  const refused: Refused[] = [];
  let count = hostJobs.ofHost.of(host).size;
  const oldest = hostJobs.endedOf.of(host).values();
  const told = new Set<string>();
  for (const given of sent.jobs) {
    const job = jobOfHost(given, { ...sent, nowMs });
    const known = hostJobs.byId.get(job.id)?.job;
    const problem = invalid(...problemsOf(given));
    if (problem) refused.push({ alias: job.id, code: problem.code, reason: problem.reason });
    else if (!told.has(job.id) && (!known || !isSame(known, job))) {
      told.add(job.id);
      const isFull = !known && count >= OUTPOST.jobs;
      const room = isFull ? nextBut(oldest, told) : undefined;
      if (isFull && room === undefined) refused.push(tooMany(job));
      else {
        if (room !== undefined) events.push({ type: "outpost.jobs_forgotten", jobIds: [room] });
        else if (!known) count += 1;
        events.push({ type: "outpost.job_told", job });
      }
    }
  }
  const isIts = (id: string) => !told.has(id) && hostJobs.byId.get(id)?.job.host === host;
  const jobIds = [...new Set(sent.gone)].filter(isIts);
  if (jobIds.length > 0) events.push({ type: "outpost.jobs_forgotten", jobIds });
  return { events, refused };
}

/** The next that was not told of just now: that one is no longer the oldest. */
function nextBut(ids: Iterator<string>, told: ReadonlySet<string>): string | undefined {
  let next = ids.next();
  while (!next.done && told.has(next.value)) next = ids.next();
  return next.done ? undefined : next.value;
}

function tooOld(alias: string): Refused {
  const reason =
    "the team's log is in a format without jobs of machines: rollcall cluster finalize";
  return { alias, code: "UNIMPLEMENTED", reason };
}

function tooMany({ id, host }: HostJob): Refused {
  const reason = `${host} already has ${OUTPOST.jobs} unfinished jobs here, no more are kept`;
  return { alias: id, code: "LIMIT_EXCEEDED", reason };
}

/** In our names and our time; one that lies ahead happened now. */
function jobOfHost(
  given: SentJob,
  { host, shiftMs, nowMs }: SentJobs & { readonly nowMs: number },
): HostJob {
  const time = (atMs: number) => (atMs === 0 ? 0 : Math.min(nowMs, Math.max(1, atMs + shiftMs)));
  return {
    id: withHost(given.id, host),
    agent: given.agent,
    principal: withHost(given.principal, host),
    node: host,
    host,
    parent: given.parent === "" ? "" : withHost(given.parent, host),
    status: given.status,
    submittedAtMs: time(given.submittedAtMs),
    startedAtMs: time(given.startedAtMs),
    endedAtMs: isTerminal(given.status) ? time(given.endedAtMs) || nowMs : 0,
    restarts: given.restarts,
    code: given.code,
    reason: given.reason,
  };
}

const COMPARED = ["status", "startedAtMs", "restarts", "code", "reason"] as const;

function isSame(known: HostJob, job: HostJob): boolean {
  return COMPARED.every((name) => known[name] === job[name]);
}

function problemsOf(job: SentJob): Problem[] {
  const times = [job.submittedAtMs, job.startedAtMs, job.endedAtMs, job.restarts];
  const isWhole = (each: number) => Number.isSafeInteger(each) && each >= 0;
  return [
    key("id", job.id, FIELD.nameLength),
    key("agent", job.agent),
    key("principal", job.principal),
    line("parent", job.parent, FIELD.nameLength),
    line("code", job.code, FIELD.nameLength),
    line("reason", job.reason, FLEET.textLength),
    JOB_STATUSES.includes(job.status) ? undefined : `status is none of ${JOB_STATUSES.join(", ")}`,
    times.every(isWhole) ? undefined : "times and restarts are whole numbers from 0 up",
    job.submittedAtMs > 0 ? undefined : "submittedAtMs is 0",
  ];
}

export function evolveHostJob(state: State, event: HostJobEvent): void {
  switch (event.type) {
    case "outpost.job_told":
      forgetHostJob(state, event.job.id);
      restoreHostJob(state, event.job);
      return;
    case "outpost.jobs_forgotten":
      for (const id of event.jobIds) forgetHostJob(state, id);
      return;
  }
}

export function restoreHostJob({ hostJobs }: State, job: HostJob): void {
  const { id, host, endedAtMs } = job;
  const timer = hostJobs.ended.add(endedAtMs + RETENTION.endedJobMs, id);
  if (isTerminal(job.status)) hostJobs.endedOf.add(host, id);
  else hostJobs.ended.remove(timer);
  hostJobs.byId.set(id, { job, timer });
  hostJobs.ofHost.add(host, id);
  hostJobs.ofRow.add(agentRowId(job), id);
}

function forgetHostJob({ hostJobs }: State, id: string): void {
  const entry = hostJobs.byId.get(id);
  if (!entry) return;
  const { job, timer } = entry;
  hostJobs.ended.remove(timer);
  hostJobs.byId.delete(id);
  hostJobs.ofHost.delete(job.host, id);
  hostJobs.endedOf.delete(job.host, id);
  hostJobs.ofRow.delete(agentRowId(job), id);
}

/** With a host that is forgotten. */
export function jobsOver({ hostJobs }: State, host: string): readonly Event[] {
  const jobIds = [...hostJobs.ofHost.of(host)];
  return jobIds.length > 0 ? [{ type: "outpost.jobs_forgotten", jobIds }] : [];
}

export function dueHostJob({ ended }: HostJobs): number | undefined {
  return ended.nextAt();
}

export function expireHostJob({ hostJobs }: State, nowMs: number): readonly Event[] {
  const jobIds: string[] = [];
  while (jobIds.length < RETENTION.forgottenAtOnce) {
    const due = hostJobs.ended.takeDue(nowMs);
    if (!due) break;
    jobIds.push(due.value);
  }
  return jobIds.length > 0 ? [{ type: "outpost.jobs_forgotten", jobIds }] : [];
}
