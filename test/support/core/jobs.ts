/** For tests: what few clients do with jobs, sessions and credentials, picked by small numbers. */
import type { CredentialCommand } from "../../../src/core/credentials.ts";
import { feel, newPulse } from "../../../src/core/job-progress.ts";
import type { JobEnding, JobCommand } from "../../../src/core/job-rules.ts";
import type { SubmitCommand } from "../../../src/core/job-submit.ts";
import { charge, countersOf, type Counters } from "../../../src/core/jobs/budget.ts";
import { amountOfNumber } from "../../../src/core/jobs/decimal.ts";
import type { JobStreamEvent } from "../../../src/core/jobs/events.ts";
import type { LeaseRequest } from "../../../src/core/jobs/lease.ts";
import { isTerminal } from "../../../src/core/jobs/outcome.ts";
import { forgottenJobs, type Job, type JobEntry } from "../../../src/core/jobs.ts";
import { setAttached, type Session, type SessionCommand } from "../../../src/core/sessions.ts";
import type { Event } from "../../../src/core/events.ts";
import type { Observers } from "../../../src/engine/observer.ts";
import type { State } from "../../../src/core/state.ts";

const SECOND = 1000;

/** A job that asks for nothing. */
export function jobDefaults(): Omit<SubmitCommand, "jobId"> {
  return {
    type: "job.submit",
    agent: "echo",
    principal: "ann",
    node: "n1",
    session: "",
    parent: "",
    lease: {},
    traceId: "0".repeat(32),
  };
}

type Open = SessionCommand & { readonly type: "session.open" };

export function sessionDefaults(): Omit<Open, "sessionId"> {
  return {
    type: "session.open",
    principal: "ann",
    client: "cli 1.0",
    profile: "spec",
    features: ["ack"],
    tokenHash: "first",
  };
}

/** A job as a file of an older program has it. */
export function oldJob(fields: Partial<Job> = {}): Job {
  return {
    id: "job_0000",
    agent: "echo",
    principal: "ann",
    node: "n1",
    parent: "",
    status: "success",
    submittedAtMs: 1,
    startedAtMs: 1,
    endedAtMs: 1,
    restarts: 0,
    code: "",
    reason: "",
    ...fields,
  };
}

/** Small numbers, each from 0 to 255. */
export interface Picks {
  readonly who: number;
  readonly what: number;
  readonly how: number;
}

const LEASES: readonly LeaseRequest[] = [
  {},
  { "tool.call": ["fs.*"] },
  { "cost.budget": ["USD:2"] },
  { "cost.budget": ["USD:3", "EUR:1"] },
  { "cost.budget": ["USD:10", "EUR:4"], "tool.call": ["fs.*"] },
];

function somePrincipal(who: number): string {
  return who % 3 === 0 ? "bob" : "ann";
}

export interface JobPlace {
  readonly state: State;
  readonly nowMs: number;
  /** An order under an id that nobody used. */
  order(fields: Partial<SubmitCommand>): SubmitCommand;
}

export function someSubmit(place: JobPlace, { who, what, how }: Picks): SubmitCommand {
  const { state, nowMs } = place;
  const principal = somePrincipal(who);
  const parent = how % 3 === 0 ? pick(idsOf(state, isUnfinished), what) : undefined;
  const other = how % 31 === 30 ? "job_none" : "";
  const again = how % 29 === 28 ? pick(idsOf(state), what) : undefined;
  const order = place.order({
    principal,
    node: `n${who % 2}`,
    session: pick(["", ...state.sessions.byId.keys()], what) ?? "",
    parent: parent ?? other,
    lease: pick(LEASES, what + how) ?? {},
    ...(how % 5 === 0 && { leaseExpiresAtMs: nowMs + (what % 4) * 4 * SECOND }),
    ...(what % 4 === 0 && { maxRuntimeSec: 1 + (how % 3) * 9 }),
    ...(what % 5 === 0 && { key: `key-${how % 4}`, fingerprint: `print-${who % 2}` }),
  });
  return again === undefined ? order : { ...order, jobId: again };
}

const ENDINGS: readonly JobEnding[] = [
  { status: "success", code: "", reason: "" },
  { status: "error", code: "INTERNAL", reason: "no disk" },
  { status: "timed_out", code: "TIMED_OUT", reason: "late" },
];

export function someJobCommand(state: State, { who, what, how }: Picks): JobCommand {
  const jobId = pick(idsOf(state, how % 4 === 0 ? () => true : isUnfinished), who) ?? "job_none";
  switch (what % 8) {
    case 0:
    case 1: {
      const scope = how % 2 === 0 ? "session" : "principal";
      const from = { session: `session-${how % 4}`, scope } as const;
      return { type: "job.cancel", jobId, reason: "enough", ...(how % 3 > 0 && { from }) };
    }
    case 2:
      return { type: "job.revive", jobId, node: `n${who % 2}`, again: how % 3 > 0 };
    case 3:
    case 4:
      return { type: "job.progress", jobId };
    case 5: {
      const job = oldJob({ id: `job_0${who % 3}`, node: "old" });
      if (how % 3 === 0) return { type: "job.import", job };
      // With what only a program with schema 2 records, and not over.
      const running = { session: "", status: "running", endedAtMs: 0 } as const;
      return { type: "job.import", job: { ...job, ...running } };
    }
    default:
      return { type: "job.end", jobId, ending: pick(ENDINGS, how) ?? pickOne(ENDINGS) };
  }
}

export function someSessionCommand(state: State, { who, what, how }: Picks): SessionCommand {
  const sessionId = `session-${who % 4}`;
  const known = state.sessions.byId.get(sessionId)?.session;
  const jobId = pick(idsOf(state), what) ?? "job_none";
  switch (how % 8) {
    case 0:
    case 1:
      return {
        ...sessionDefaults(),
        sessionId,
        principal: somePrincipal(who),
        tokenHash: `t${what}`,
      };
    case 2:
    case 3: {
      const right = what % 3 === 0 ? known?.tokenHashBefore : known?.tokenHash;
      return {
        ...sessionDefaults(),
        type: "session.resume",
        sessionId,
        principal: somePrincipal(who),
        tokenHash: what % 7 === 0 ? "guess" : (right ?? "none"),
        newTokenHash: `t${what}`,
        isUnproven: what % 2 === 0,
        isKept: what % 11 > 0,
      };
    }
    case 4:
      return { type: "session.prove", sessionId };
    case 5:
    case 6:
      return { type: "session.subscribe", sessionId, jobId, after: what % 5 };
    default:
      if (what % 4 > 0) return { type: "session.unsubscribe", sessionId, jobId };
      return {
        type: "session.import",
        session: oldSession(sessionId),
        subscriptions: [{ sessionId, jobId, after: 1 }],
      };
  }
}

function oldSession(id: string): Session {
  const { type: _, ...terms } = sessionDefaults();
  return { ...terms, id, openedAtMs: 1, tokenHashBefore: "" };
}

export function someCredentialCommand(state: State, { who, what, how }: Picks): CredentialCommand {
  const jobId = pick(idsOf(state), who) ?? "job_none";
  if (how % 3 === 0) return { type: "credential.request", jobId };
  if (how % 3 === 1) return { type: "credential.revoke", jobId };
  return { type: "credential.issue", jobId, ids: what % 2 === 0 ? ["c1"] : ["c1", "c2"] };
}

const SAYINGS: readonly JobStreamEvent[] = [
  { kind: "status", body: { phase: "indexing" } },
  { kind: "status", body: { phase: "awaiting_approval", message: "go on?" } },
  { kind: "progress", body: { current: 3, total: 10 } },
  { kind: "thought", body: { text: "hm" } },
];

/** Where soft things happen, and who hears of them. */
interface SoftPlace extends Pick<JobPlace, "state" | "nowMs"> {
  readonly observers: Pick<Observers, "felt">;
}

/** Soft: a job says something. */
export function saySomething({ state, nowMs, observers }: SoftPlace, { who, what }: Picks): void {
  const entry = someUnfinished(state, who);
  const event = pick(SAYINGS, what);
  if (!entry || !event) return;
  entry.pulse ??= newPulse(nowMs);
  feel(entry.pulse, event, nowMs);
  observers.felt(entry.job);
}

/** Soft: a job spends something. */
export function spendSomething({ state, observers }: SoftPlace, { who, what }: Picks): void {
  let entry = someUnfinished(state, who);
  const currency = what % 4 === 0 ? "EUR" : "USD";
  if (entry) charge(entry.purse, currency, amountOfNumber((what % 7) / 4) ?? 0n);
  // One of those above it may have paid.
  for (; entry; entry = state.jobs.byId.get(entry.job.parent)) observers.felt(entry.job);
}

/** Soft: a client connects, or its connection is lost. */
export function attachSomebody(state: State, { who, what }: Picks, nowMs: number): void {
  setAttached(state, `session-${who % 4}`, { isAttached: what % 2 === 0, nowMs });
}

/**
 * The budgets as the streams of the jobs have them: whenever a counter may have moved, the job and
 * all above it write it down.
 */
export class KeptBudgets {
  readonly byJob = new Map<string, Counters>();

  /** After a step: everything that is left of everybody is as good as those that moved. */
  keep({ jobs }: State): void {
    for (const [id, { job, purse }] of jobs.byId) {
      const counters = isTerminal(job.status) ? undefined : countersOf(purse);
      if (counters) this.byJob.set(id, counters);
    }
  }
}

export function isUnfinished({ job }: JobEntry): boolean {
  return !isTerminal(job.status);
}

function someUnfinished(state: State, who: number): JobEntry | undefined {
  return state.jobs.byId.get(pick(idsOf(state, isUnfinished), who) ?? "");
}

/** Of the last few. */
function idsOf({ jobs }: State, isMeant: (entry: JobEntry) => boolean = () => true): string[] {
  return [...jobs.byId].flatMap(([id, entry]) => (isMeant(entry) ? [id] : [])).slice(-6);
}

function pick<T>(from: readonly T[], at: number): T | undefined {
  return from[at % (from.length || 1)];
}

function pickOne<T>([first]: readonly T[]): T {
  if (first === undefined) throw new Error("nothing to pick from");
  return first;
}

/** The jobs that an event is about. */
export function jobsIn(event: Event): readonly string[] {
  if ("job" in event) return [event.job.id];
  if (event.type === "job.forgotten") return forgottenJobs(event);
  return event.type.startsWith("job.") && "jobId" in event ? [event.jobId] : [];
}
