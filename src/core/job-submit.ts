/**
 * A job is submitted: under a key or not, at once in a slot or in its line, and as a child within
 * what its parent was granted. What becomes of it then is in job-rules.ts.
 */
import { decided, refuse, type Decision, type Moment, type Refusal } from "./decide.ts";
import type { Event } from "./events.ts";
import { invalid, key, line } from "./fields.ts";
import {
  authorize,
  checkExpiry,
  parseLease,
  type JobLease,
  type LeaseRequest,
} from "./jobs/lease.ts";
import { checkSubset, inherited } from "./jobs/lease-subset.ts";
import { TERMS } from "./jobs/limits.ts";
import { isTerminal } from "./jobs/outcome.ts";
import { countersOf } from "./jobs/budget.ts";
import { stepOf, type Job, type JobEntry, type JobStep } from "./jobs.ts";
import { FIELD } from "./limits.ts";
import type { Role } from "./principals.ts";
import { beyondShare, SHARED, wishOf } from "./shares.ts";
import type { State } from "./state.ts";

export interface SubmitCommand {
  readonly type: "job.submit";
  readonly jobId: string;
  /** The agent that was resolved. */
  readonly agent: string;
  readonly principal: string;
  readonly roles?: readonly Role[] | undefined;
  readonly node: string;
  /** Empty where nobody listens by a session. */
  readonly session: string;
  /** The job that delegates; empty for none. */
  readonly parent: string;
  /** Bounded by policy already. */
  readonly lease: LeaseRequest;
  readonly leaseExpiresAtMs?: number | undefined;
  readonly maxRuntimeSec?: number | undefined;
  readonly traceId: string;
  readonly key?: string | undefined;
  readonly fingerprint?: string | undefined;
  readonly requestId?: string | undefined;
  readonly delegateId?: string | undefined;
}

export interface SubmitReply {
  readonly job: Job;
  /** Whether it was there already, under the same key. */
  readonly isRepeated: boolean;
}

/** The job made under a key that is still alive. */
export function jobUnderKey(
  { jobs }: State,
  { principal, key: name }: { readonly principal: string; readonly key: string },
  nowMs: number,
): Job | undefined {
  const job = jobs.byId.get(jobs.index.byKey(principal, name) ?? "")?.job;
  return job && job.submittedAtMs + jobs.limits.keyTtlMs > nowMs ? job : undefined;
}

export function submit(
  state: State,
  command: SubmitCommand,
  moment: Moment,
): Decision<Event, SubmitReply> {
  const { jobs } = state;
  const { nowMs } = moment;
  const { principal, node } = command;
  if (command.key !== undefined) {
    const known = jobUnderKey(state, { principal, key: command.key }, nowMs);
    if (known && known.fingerprint === command.fingerprint) {
      return decided([], { job: known, isRepeated: true });
    }
    const name = JSON.stringify(command.key);
    if (known) return refuse("ALREADY_EXISTS", `key ${name} was used with other parameters`);
  }
  const parent = jobs.byId.get(command.parent);
  const refusal =
    problemOf(state, command) ?? roomFor(state, command) ?? (parent && roomForChild(state, parent));
  if (refusal) return refusal;
  const lease = leaseOf(command, parent, nowMs);
  if ("ok" in lease) return lease;
  const isWaiting = !parent && !jobs.queue(node).isFree(principal, jobs.limits);
  const job = newJob(command, lease, { submittedAtMs: nowMs, startedAtMs: isWaiting ? 0 : nowMs });
  return decided([{ type: "job.submitted", job }], { job, isRepeated: false });
}

function problemOf({ jobs, sessions }: State, command: SubmitCommand): Refusal | undefined {
  const { jobId, parent, principal } = command;
  const refusal = invalid(
    key("jobId", jobId, FIELD.nameLength),
    key("agent", command.agent),
    key("principal", command.principal),
    key("node", command.node, FIELD.nameLength),
    line("session", command.session, FIELD.nameLength),
  );
  if (refusal) return refusal;
  if (jobs.byId.has(jobId)) return refuse("ALREADY_EXISTS", `${jobId} was submitted already`);
  // Sessions and jobs of other principals are hidden, and their budgets untouched.
  const session = sessions.byId.get(command.session)?.session;
  if (session && session.principal !== principal) {
    return refuse("NOT_FOUND", `no session ${JSON.stringify(command.session)}`);
  }
  if (parent === "" || jobs.byId.get(parent)?.job.principal === principal) return undefined;
  return refuse("NOT_FOUND", `no job ${JSON.stringify(parent)}`);
}

function roomFor({ jobs }: State, command: SubmitCommand): Refusal | undefined {
  const { principal, node, parent } = command;
  const { limits, holdings } = jobs;
  const queue = jobs.queue(node);
  const full = beyondShare(SHARED.unfinishedJobs, wishOf(holdings, principal));
  if (full) return full;
  const { queuedPerPrincipal, keysPerPrincipal } = limits;
  const mustWait = parent === "" && !queue.isFree(principal, limits);
  if (mustWait && queue.waiting(principal) >= queuedPerPrincipal) {
    const reason = `${principal} already has ${queuedPerPrincipal} waiting jobs`;
    return refuse("LIMIT_EXCEEDED", reason);
  }
  if (command.key === undefined || jobs.index.keyCount(principal) < keysPerPrincipal) {
    return undefined;
  }
  return refuse("LIMIT_EXCEEDED", `${principal} already has ${keysPerPrincipal} idempotency keys`);
}

/** The lease as it is granted: checked, and for a child a part of its parent's. */
function leaseOf(
  command: SubmitCommand,
  parent: JobEntry | undefined,
  nowMs: number,
): JobLease | Refusal {
  const { leaseExpiresAtMs } = command;
  const isLate = leaseExpiresAtMs !== undefined && checkExpiry(leaseExpiresAtMs, nowMs);
  if (isLate) return isLate;
  const parsed = parseLease(command.lease, leaseExpiresAtMs);
  if (!parsed.ok) return parsed;
  const { lease } = parsed;
  for (const _ in lease.granted) {
    if (JSON.stringify(lease.granted).length <= TERMS.leaseLength) break;
    return refuse("TOO_LARGE", `lease_request has more than ${TERMS.leaseLength} characters`);
  }
  if (!parent) return lease;
  const wider = checkSubset(lease, parent.lease, parent.purse);
  return wider ?? inherited(lease, parent.lease);
}

/** Why a job may not delegate to an agent; undefined when it may. */
export function checkDelegation(
  state: State,
  { parent, agent }: { readonly parent: string; readonly agent: string },
  nowMs: number,
): Refusal | undefined {
  const entry = state.jobs.byId.get(parent);
  if (!entry || isTerminal(entry.job.status)) return refuse("WRONG_STATE", `${parent} is over`);
  const denied = checkTarget(entry, { namespace: "agent.delegate", target: agent }, nowMs);
  return denied ?? roomForChild(state, entry);
}

function roomForChild(state: State, entry: JobEntry): Refusal | undefined {
  const { depth, children, childrenAtOnce } = state.jobs.limits;
  if (isTerminal(entry.job.status)) return refuse("WRONG_STATE", `${entry.job.id} is over`);
  if (jobDepth(state, entry.job) + 1 > depth) {
    return refuse("LIMIT_EXCEEDED", `delegated jobs nest at most ${depth} deep`);
  }
  if (entry.childrenEver < children && (entry.children?.size ?? 0) < childrenAtOnce) {
    return undefined;
  }
  const limit = `${children} children, ${childrenAtOnce} at once`;
  return refuse("LIMIT_EXCEEDED", `a job has at most ${limit}`);
}

function jobDepth({ jobs }: State, job: Job): number {
  let depth = 0;
  for (let above = jobs.byId.get(job.parent); above; above = jobs.byId.get(above.job.parent)) {
    depth += 1;
  }
  return depth;
}

/** Why the lease of a job does not allow something; undefined when it does. */
export function checkTarget(
  { lease, purse }: Pick<JobEntry, "lease" | "purse">,
  wanted: { readonly namespace: string; readonly target: string },
  nowMs: number,
): Refusal | undefined {
  return authorize(lease, { ...wanted, nowMs, purse });
}

/** All fields in one go: putting an object together from parts costs ten times as much. */
function newJob(
  command: SubmitCommand,
  lease: JobLease,
  { submittedAtMs, startedAtMs }: Pick<Job, "submittedAtMs" | "startedAtMs">,
): Job {
  return {
    id: command.jobId,
    agent: command.agent,
    principal: command.principal,
    node: command.node,
    parent: command.parent,
    status: startedAtMs > 0 ? "running" : "pending",
    submittedAtMs,
    startedAtMs,
    endedAtMs: 0,
    restarts: 0,
    code: "",
    reason: "",
    session: command.session,
    lease: lease.granted,
    leaseExpiresAtMs: lease.expiresAtMs === Infinity ? undefined : lease.expiresAtMs,
    budget: lease.budget && countersOf({ ...EMPTY_PURSE, remaining: new Map(lease.budget) }),
    maxRuntimeSec: command.maxRuntimeSec,
    traceId: command.traceId,
    key: command.key,
    fingerprint: command.fingerprint,
    requestId: command.requestId,
    delegateId: command.delegateId,
    roles: command.roles,
    cancelReason: undefined,
    graceEndsAtMs: undefined,
    lastSeq: undefined,
  };
}

const EMPTY_PURSE = { granted: new Map(), parent: undefined, lent: undefined, isSettled: false };

/** The step by which a job begins to run. */
export function startStep(job: Job, nowMs: number): JobStep {
  return stepOf(job, { status: "running", startedAtMs: nowMs });
}
