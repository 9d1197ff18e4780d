/**
 * A job: one run of an agent, for a principal, under a lease and a budget.
 *
 *   submit          a slot is free                    job.end, or a deadline
 *  ────────▶ pending ─────────────▶ running ─────────────────────────────────▶ ended ──▶ forgotten
 *               │                     │  cancel                        ▲         a day, or too many
 *               │ cancel              └─────────▶ cancelling ──────────┤
 *               └──────────────────────────────────────────────────────┘
 *
 * The record here is small. The input that a job may need again, all that it says and its result
 * are entries of its stream (`job/ID`, see job-stream.ts), written in the same commit.
 *
 * A job ends exactly once. A cancel is a promise: once it is recorded the job ends as cancelled,
 * even if its agent takes no notice and returns a result. The deadlines of a job (its lease, its
 * longest run, the grace after a cancel) sit in one heap.
 */
import { leaveAgent, placeAtAgent, siblingsOf, type AgentJobs } from "./agent-jobs.ts";
import { Heap, type Slot } from "./heap.ts";
import { IndexBy } from "./index-by.ts";
import { setTimer } from "./job-deadlines.ts";
import { JobIndex } from "./job-index.ts";
import type { JobProgress, Pulse } from "./job-progress.ts";
import { JobQueue } from "./job-queue.ts";
import {
  NO_PURSE,
  openPurse,
  setCounters,
  settle,
  type Counters,
  type Purse,
} from "./jobs/budget.ts";
import { NO_LEASE, parseLease, type JobLease, type LeaseRequest } from "./jobs/lease.ts";
import { JOBS } from "./jobs/limits.ts";
import { isTerminal, type JobStatus } from "./jobs/outcome.ts";
import type { Role } from "./principals.ts";
import { Holdings } from "./shares.ts";
import type { State } from "./state.ts";

export interface Job {
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
  /** 0 until it ended. */
  readonly endedAtMs: number;
  /** How often it was started again because its daemon had died. */
  readonly restarts: number;
  /** Why it did not succeed: a code, and a sentence. Empty otherwise. */
  readonly code: string;
  readonly reason: string;

  // Absent in records of programs before schema 2.
  /** The session that submitted it. */
  readonly session?: string | undefined;
  readonly lease?: LeaseRequest | undefined;
  /** Absent where the lease does not expire. */
  readonly leaseExpiresAtMs?: number | undefined;
  /** The remaining budget, by currency, in exact decimals, as of this event. */
  readonly budget?: Counters | undefined;
  readonly maxRuntimeSec?: number | undefined;
  readonly traceId?: string | undefined;
  /** The idempotency key, and the fingerprint of what was submitted under it. */
  readonly key?: string | undefined;
  readonly fingerprint?: string | undefined;
  /** The id of the frame that submitted it. */
  readonly requestId?: string | undefined;
  /** The parent's name for this delegation. */
  readonly delegateId?: string | undefined;
  /** Of its submitter, for what it delegates; absent for an admin, whom no policy narrows. */
  readonly roles?: readonly Role[] | undefined;
  /** Set once somebody cancelled it, with the moment at which it ends by force. */
  readonly cancelReason?: string | undefined;
  readonly graceEndsAtMs?: number | undefined;
  /** The number that its last entry has in the session that submitted it. */
  readonly lastSeq?: number | undefined;
}

export type JobLimits = { readonly [Name in keyof typeof JOBS]: number };

export interface JobEntry {
  job: Job;
  /** While it has not ended: its lease, ready to be asked, and its purse. */
  lease: JobLease;
  purse: Purse;
  /** Its children that have not ended, and how many there ever were. */
  children: Set<string> | undefined;
  childrenEver: number;
  /** Soft: the last of each kind that it said. */
  pulse: Pulse | undefined;
  /** Its progress as last logged. */
  progress: JobProgress | undefined;
  /** Of the same agent, this one among them. */
  siblings: AgentJobs;
  /** Its next deadline; once it ended, the moment to forget it. And the heap that it stands in. */
  readonly timer: Slot<string>;
  heap: Heap<string> | undefined;
}

export class Jobs {
  readonly byId = new Map<string, JobEntry>();
  readonly index = new JobIndex((id) => this.byId.has(id));
  /** Ids of jobs by the session that submitted them. */
  readonly bySession = new IndexBy();
  /** By the row of the fleet that the agent has. */
  readonly byAgent = new Map<string, AgentJobs>();
  /** Of those that have not ended. */
  readonly deadlines = new Heap<string>();
  /** Ended jobs, in that order; the ones whose idempotency key still lives are in `keyed`. */
  readonly ended = new Heap<string>();
  readonly keyed = new Heap<string>();
  /** By node: what waits for a slot, and what has one. */
  readonly queues = new Map<string, JobQueue>();
  running = 0;
  /** Of those that have not ended: whose they are. */
  readonly holdings = new Holdings();
  /** Settings of the daemon that leads. They shape decisions, which are in the events. */
  limits: JobLimits = JOBS;

  get unfinished(): number {
    return this.byId.size - this.ended.size - this.keyed.size;
  }

  queue(node: string): JobQueue {
    const known = this.queues.get(node);
    if (known) return known;
    const queue = new JobQueue();
    this.queues.set(node, queue);
    return queue;
  }
}

/**
 * One step of a job: the fields that it changes, and whose job it is. Programs before schema 2
 * wrote the whole record at every step, which reads as a step that changes everything.
 */
export interface JobStep extends JobChange {
  readonly id: string;
  readonly agent: string;
  readonly node: string;
  readonly principal: string;
  readonly parent: string;
}

interface JobChange {
  readonly status: JobStatus;
  readonly startedAtMs?: number | undefined;
  readonly endedAtMs?: number | undefined;
  readonly restarts?: number | undefined;
  readonly code?: string | undefined;
  readonly reason?: string | undefined;
  readonly budget?: Counters | undefined;
  readonly cancelReason?: string | undefined;
  readonly graceEndsAtMs?: number | undefined;
  readonly lastSeq?: number | undefined;
}

export type JobEvent =
  | { readonly type: "job.submitted"; readonly job: Job }
  | { readonly type: "job.started" | "job.cancelling" | "job.ended"; readonly job: JobStep }
  /** The member that had it is gone, and it goes on at another one. Since format 2. */
  | { readonly type: "job.moved"; readonly job: JobStep; readonly from: string }
  /** A job of a file that an older program wrote, with all that its own store knew of it. */
  | { readonly type: "job.imported"; readonly job: Job }
  | { readonly type: "job.progressed"; readonly jobId: string; readonly progress: JobProgress }
  | JobForgotten;

/** One job, and others that go with it: where jobs are many, one event for many of them. */
export interface JobForgotten {
  readonly type: "job.forgotten";
  readonly jobId: string;
  readonly others?: readonly string[];
}

export function forgottenJobs({ jobId, others = [] }: JobForgotten): readonly string[] {
  return [jobId, ...others];
}

export function evolveJob(state: State, event: JobEvent): void {
  const { jobs } = state;
  switch (event.type) {
    case "job.submitted":
      add(state, event.job);
      return;
    case "job.started":
    case "job.cancelling":
      change(state, event.job);
      return;
    case "job.ended":
      end(state, event.job);
      return;
    case "job.moved":
      move(jobs, event.job);
      return;
    case "job.imported":
      remove(jobs, event.job.id);
      restoreJob(state, event.job);
      return;
    case "job.progressed": {
      const entry = jobs.byId.get(event.jobId);
      if (entry) entry.progress = event.progress;
      return;
    }
    case "job.forgotten":
      for (const jobId of forgottenJobs(event)) remove(jobs, jobId);
      return;
  }
}

/** Puts a job, whatever its status, where it belongs. */
export function restoreJob(state: State, job: Job): void {
  add(state, job);
  const { jobs } = state;
  if (isTerminal(job.status)) jobs.byId.get(job.parent)?.children?.delete(job.id);
  const entry = jobs.byId.get(job.id);
  if (!entry || entry.purse === NO_PURSE) return;
  if (job.budget) setCounters(entry.purse, job.budget);
  if (!isTerminal(job.status)) return;
  // Its parent may be there before it or after it, and has counted what it gave back.
  entry.purse.isSettled = true;
}

function add(state: State, job: Job): void {
  const { jobs } = state;
  const parent = parentOf(jobs, job);
  const lease = leaseOf(job);
  const purse = openPurse(lease.budget, parent?.purse);
  const entry: JobEntry = {
    job,
    siblings: siblingsOf(jobs, job),
    lease,
    purse,
    children: undefined,
    childrenEver: 0,
    pulse: undefined,
    progress: undefined,
    timer: { at: Infinity, value: job.id, place: -1 },
    heap: undefined,
  };
  jobs.byId.set(job.id, entry);
  jobs.index.add(job);
  if (job.session) jobs.bySession.add(job.session, job.id);
  placeAtAgent(jobs, entry);
  if (parent) {
    parent.children ??= new Set();
    parent.children.add(job.id);
    parent.childrenEver += 1;
  }
  if (job.status === "running") jobs.running += 1;
  if (job.parent === "") jobs.queue(job.node).place(job);
  setTimer(jobs, entry);
}

/** Most have none, and to look for what is not there takes the longest. */
function parentOf({ byId }: Jobs, { parent }: Job): JobEntry | undefined {
  return parent === "" ? undefined : byId.get(parent);
}

/** A step of a job that is not known is the first event of it in an old log. */
function isWhole(step: JobStep | Job): step is Job {
  return "submittedAtMs" in step;
}

/** All fields in one go: putting an object together from parts costs ten times as much. */
export function stepOf(job: Job, changes: JobChange): JobStep {
  return {
    id: job.id,
    agent: job.agent,
    node: job.node,
    principal: job.principal,
    parent: job.parent,
    status: changes.status,
    startedAtMs: changes.startedAtMs,
    endedAtMs: changes.endedAtMs,
    restarts: changes.restarts,
    code: changes.code,
    reason: changes.reason,
    budget: changes.budget,
    cancelReason: changes.cancelReason,
    graceEndsAtMs: changes.graceEndsAtMs,
    lastSeq: changes.lastSeq,
  };
}

/** The record after a step. */
function afterStep(job: Job, step: JobStep): Job {
  return {
    ...job,
    status: step.status,
    startedAtMs: step.startedAtMs ?? job.startedAtMs,
    endedAtMs: step.endedAtMs ?? job.endedAtMs,
    restarts: step.restarts ?? job.restarts,
    code: step.code ?? job.code,
    reason: step.reason ?? job.reason,
    budget: step.budget ?? job.budget,
    cancelReason: step.cancelReason ?? job.cancelReason,
    graceEndsAtMs: step.graceEndsAtMs ?? job.graceEndsAtMs,
    lastSeq: step.lastSeq ?? job.lastSeq,
  };
}

function change(state: State, step: JobStep): void {
  const { jobs } = state;
  const entry = jobs.byId.get(step.id);
  if (!entry) return isWhole(step) ? add(state, step) : undefined;
  const job = afterStep(entry.job, step);
  const isNew = entry.job.status !== "running" && job.status === "running";
  if (job.restarts > entry.job.restarts) {
    entry.pulse = undefined;
    entry.progress = undefined;
  }
  entry.job = job;
  if (isNew) jobs.running += 1;
  if (isNew && job.parent === "") jobs.queue(job.node).place(job);
  setTimer(jobs, entry);
}

/** To the slot, or the line, and the row of the fleet that it has on another node. */
function move(jobs: Jobs, { id, node }: JobStep): void {
  const entry = jobs.byId.get(id);
  if (!entry) return;
  if (entry.job.parent === "") jobs.queue(entry.job.node).leave(entry.job);
  leaveAgent(jobs, entry);
  entry.job = { ...entry.job, node };
  entry.siblings = siblingsOf(jobs, entry.job);
  placeAtAgent(jobs, entry);
  if (entry.job.parent === "") jobs.queue(node).place(entry.job);
}

function end(state: State, step: JobStep): void {
  const { jobs } = state;
  const entry = jobs.byId.get(step.id);
  if (!entry) return isWhole(step) ? restoreJob(state, step) : undefined;
  const job = afterStep(entry.job, step);
  if (entry.job.status === "running") jobs.running -= 1;
  if (job.parent === "") jobs.queue(job.node).leave(entry.job);
  entry.job = job;
  // Its own events are not replayed, so the remaining budget comes from this one.
  if (job.budget) setCounters(entry.purse, job.budget);
  settle(entry.purse);
  // One that has a parent is the way from its own children to that one's.
  if (!entry.purse.parent) entry.purse = NO_PURSE;
  entry.lease = NO_LEASE;
  entry.pulse = undefined;
  entry.progress = undefined;
  entry.children = undefined;
  parentOf(jobs, job)?.children?.delete(job.id);
  placeAtAgent(jobs, entry);
  setTimer(jobs, entry);
}

function remove(jobs: Jobs, id: string): void {
  const entry = jobs.byId.get(id);
  if (!entry) return;
  const { job } = entry;
  if (job.status === "running") jobs.running -= 1;
  if (job.parent === "" && !isTerminal(job.status)) jobs.queue(job.node).leave(job);
  entry.heap?.remove(entry.timer);
  parentOf(jobs, job)?.children?.delete(id);
  jobs.byId.delete(id);
  jobs.index.delete(job);
  if (job.session) jobs.bySession.delete(job.session, id);
  leaveAgent(jobs, entry);
}

/** Soft, after a start: the stream of the job knows what was left of its budget. */
export function restoreBudget({ jobs }: State, jobId: string, counters: Counters): void {
  const entry = jobs.byId.get(jobId);
  if (entry && !isTerminal(entry.job.status)) setCounters(entry.purse, counters);
}

function leaseOf({ status, lease, leaseExpiresAtMs = Infinity }: Job): JobLease {
  if (!lease || isTerminal(status)) return NO_LEASE;
  if (leaseExpiresAtMs === Infinity && isEmpty(lease)) return NO_LEASE;
  const parsed = parseLease(lease, leaseExpiresAtMs);
  return parsed.ok ? parsed.lease : NO_LEASE;
}

function isEmpty(lease: LeaseRequest): boolean {
  for (const _ in lease) return false;
  return true;
}
