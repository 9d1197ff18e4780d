/**
 * The rules for a job after its submit (see job-submit.ts): who may cancel and end it,
 * what starts next, and what goes with it. The states are drawn in jobs.ts.
 *
 * Cascades are decided here, in one batch: the end of a job cancels its children and gives its slot
 * to the next one that waits; a question that it asked ends with it.
 */
import { agentRowId } from "./agent-jobs.ts";
import { ITSELF, ownerNamed } from "./by.ts";
import { decided, refuse, type Decision, type Moment } from "./decide.ts";
import type { Event } from "./events.ts";
import { asLine } from "./fields.ts";
import { MOVING_JOBS, writes } from "./formats.ts";
import { progressOf, type JobProgress } from "./job-progress.ts";
import { countersOf } from "./jobs/budget.ts";
import { TERMS } from "./jobs/limits.ts";
import { isTerminal, type JobStatus } from "./jobs/outcome.ts";
import { jobDeadline, graceOf, runsUntilMs, takeForgettable } from "./job-deadlines.ts";
import { stepOf, type Job, type JobEntry, type JobStep } from "./jobs.ts";
import { startStep, submit, type SubmitCommand, type SubmitReply } from "./job-submit.ts";
import { FIELD } from "./limits.ts";
import { questionEvents } from "./questions.ts";
import type { Facts, Report } from "./reports.ts";
import type { State } from "./state.ts";

export interface CancelCommand {
  readonly type: "job.cancel";
  readonly jobId: string;
  readonly reason: string;
  /** Where a client cancels; absent where the runtime itself, or the job above, does. */
  readonly from?: {
    readonly session: string;
    /**
     * Allowed to cancel: the session that submitted the job, or any of the same principal. An
     * operator cancels the jobs of others from any session.
     */
    readonly scope: "session" | "principal";
  };
}

export type JobCommand =
  | SubmitCommand
  | CancelCommand
  | { readonly type: "job.end"; readonly jobId: string; readonly ending: JobEnding }
  /** The process that ran it is gone, and this node leads. `again` runs it from its beginning. */
  | {
      readonly type: "job.revive";
      readonly jobId: string;
      readonly node: string;
      readonly again: boolean;
    }
  /** The job's progress is worth an event now. */
  | { readonly type: "job.progress"; readonly jobId: string }
  /** From a file of an older program. */
  | { readonly type: "job.import"; readonly job: Job };

/** How a job ended, but for its result, which is the last entry of its stream. */
export interface JobEnding {
  readonly status: Exclude<JobStatus, "pending" | "running">;
  readonly code: string;
  readonly reason: string;
}

export interface JobReplies {
  "job.submit": SubmitReply;
  /** False when it had ended already. */
  "job.cancel": { readonly isCancelled: boolean };
  "job.end": { readonly isEnded: boolean };
  "job.revive": null;
  "job.progress": null;
  "job.import": null;
}

type JobReply = JobReplies[keyof JobReplies];

export function decideJob(
  state: State,
  command: JobCommand,
  moment: Moment,
): Decision<Event, JobReply> {
  switch (command.type) {
    case "job.submit":
      return submit(state, command, moment);
    case "job.cancel":
      return cancel(state, command, moment);
    case "job.end": {
      const entry = unfinished(state, command.jobId);
      if (!entry) return decided([], { isEnded: false });
      return decided(endEvents(state, entry, { ending: command.ending, moment }), {
        isEnded: true,
      });
    }
    case "job.revive":
      return revive(state, command, moment);
    case "job.progress": {
      const entry = unfinished(state, command.jobId);
      if (!entry?.pulse) return decided([], null);
      const progress = progressOf(entry.pulse, entry.purse);
      const asked = questionEvents(state, reportOf(entry.job, progress), moment);
      return decided([{ type: "job.progressed", jobId: command.jobId, progress }, ...asked], null);
    }
    case "job.import": {
      const known = state.jobs.byId.get(command.job.id)?.job;
      // Imported before, by a run that was cut off.
      if (known?.session !== undefined) return decided([], null);
      return decided([{ type: "job.imported", job: command.job }], null);
    }
  }
}

function cancel(
  state: State,
  { jobId, reason, from }: CancelCommand,
  moment: Moment,
): Decision<Event, JobReplies["job.cancel"]> {
  const job = state.jobs.byId.get(jobId)?.job;
  const notFound = refuse("NOT_FOUND", `no job ${JSON.stringify(jobId)}`);
  if (!job) return notFound;
  const { principal, isOperator } = moment.by;
  const isOwn = principal.name === job.principal;
  const isFromItsSession = from?.session !== "" && from?.session === job.session;
  if (from && !isFromItsSession && (isOwn || !isOperator)) {
    if (!isOwn) return notFound;
    if (from.scope === "session") {
      return refuse("PERMISSION_DENIED", `only the session that submitted ${jobId} may cancel it`);
    }
  }
  const entry = unfinished(state, jobId);
  if (!entry) return decided([], { isCancelled: false });
  return decided(cancelEvents(state, entry, { reason, moment }), { isCancelled: true });
}

interface Cancellation {
  readonly reason: string;
  readonly moment: Moment;
}

/** The job, and all its children below it. */
function cancelEvents(state: State, entry: JobEntry, { reason, moment }: Cancellation): Event[] {
  const { job } = entry;
  const { status } = job;
  if (job.cancelReason !== undefined) return [];
  const cancelReason = asLine(reason, TERMS.reasonLength);
  if (status === "pending") {
    const ending = { status: "cancelled", code: "CANCELLED", reason: cancelReason } as const;
    return endEvents(state, entry, { ending, moment });
  }
  const graceEndsAtMs = moment.nowMs + state.jobs.limits.cancelGraceMs;
  return [
    { type: "job.cancelling", job: stepOf(job, { status, cancelReason, graceEndsAtMs }) },
    ...childEvents(state, entry, { reason: `parent ${job.id} was cancelled`, moment }),
  ];
}

function childEvents(state: State, { children }: JobEntry, how: Cancellation): Event[] {
  if (!children) return [];
  return [...children].flatMap((id) => {
    const child = unfinished(state, id);
    return child ? cancelEvents(state, child, how) : [];
  });
}

interface End {
  readonly ending: JobEnding;
  readonly moment: Moment;
}

/** The end of a job, and what goes with it. */
function endEvents(state: State, entry: JobEntry, { ending, moment }: End): Event[] {
  const { jobs } = state;
  const { job, purse } = entry;
  const { status, code, reason } = kept(job, ending);
  // The end is the next thing that the session hears.
  const seq = state.sessions.byId.get(job.session ?? "")?.seq;
  const ended = stepOf(job, {
    status,
    startedAtMs: job.startedAtMs,
    endedAtMs: moment.nowMs,
    code: code === "" ? undefined : code.slice(0, FIELD.nameLength),
    reason: reason === "" ? undefined : asLine(reason, TERMS.reasonLength),
    budget: countersOf(purse),
    lastSeq: seq === undefined ? undefined : seq + 1,
  });
  return [
    { type: "job.ended", job: ended },
    ...unaskEvents(state, ended, moment),
    ...childEvents(state, entry, { reason: `parent ${job.id} ended`, moment }),
    ...startEvents(state, jobs.queue(job.node).next(jobs.limits, job), moment),
  ];
}

/** A job that ended, or begins again, no longer waits for the answer to its question. */
function unaskEvents(state: State, job: JobStep, moment: Moment): readonly Event[] {
  if (!state.questions.openOf.has(aliasOf(job))) return [];
  return questionEvents(state, reportOf(job), moment);
}

/** The job that has a slot now, if there is one. */
function startEvents({ jobs }: State, jobId: string | undefined, { nowMs }: Moment): Event[] {
  const entry = jobs.byId.get(jobId ?? "");
  return entry ? [{ type: "job.started", job: startStep(entry.job, nowMs) }] : [];
}

/** Once cancelled, whatever the agent does, unless its time was over first. */
function kept(job: Job, ending: JobEnding): JobEnding {
  const isExpiry = ending.status === "timed_out" || ending.code === "LEASE_EXPIRED";
  if (job.cancelReason === undefined || isExpiry) return ending;
  return { status: "cancelled", code: "CANCELLED", reason: job.cancelReason };
}

const DIED = "the process that ran the agent died";

function revive(
  state: State,
  { jobId, node, again }: JobCommand & { readonly type: "job.revive" },
  moment: Moment,
): Decision<Event, null> {
  const { jobs } = state;
  const entry = unfinished(state, jobId);
  if (!entry) return decided([], null);
  const { job } = entry;
  const isElsewhere = job.node !== node;
  const mayMove = !isElsewhere || writes(state, MOVING_JOBS);
  const moved = isElsewhere ? [moveEvent(job, node)] : [];
  if (job.status === "pending" && mayMove) {
    if (isElsewhere) return decided(moved, null);
    // Where there are more slots than before: for the one whose turn it is.
    return decided(startEvents(state, jobs.queue(job.node).next(jobs.limits), moment), null);
  }
  const mayRun = job.cancelReason === undefined && job.parent === "" && mayMove;
  if (again && mayRun && job.restarts < jobs.limits.restarts) {
    const started = { ...startStep(job, moment.nowMs), node, restarts: job.restarts + 1 };
    const events: Event[] = [...moved, { type: "job.started", job: started }];
    return decided([...events, ...unaskEvents(state, started, moment)], null);
  }
  const reason = isElsewhere ? `${job.node} is gone` : DIED;
  const ending = { status: "error", code: "UNAVAILABLE", reason } as const;
  return decided(endEvents(state, entry, { ending, moment }), null);
}

function moveEvent(job: Job, node: string): Event {
  return {
    type: "job.moved",
    job: { ...stepOf(job, { status: job.status }), node },
    from: job.node,
  };
}

function unfinished({ jobs }: State, jobId: string): JobEntry | undefined {
  const entry = jobs.byId.get(jobId);
  return entry && !isTerminal(entry.job.status) ? entry : undefined;
}

/** One job that is out of time, or some that may be forgotten. */
export function expireJob(state: State, nowMs: number): readonly Event[] {
  const { jobs } = state;
  const entry = jobs.byId.get(jobs.deadlines.takeDue(nowMs)?.value ?? "");
  if (!entry) {
    const [jobId, ...others] = takeForgettable(jobs, nowMs);
    if (jobId === undefined) return [];
    return [{ type: "job.forgotten", jobId, ...(others.length > 0 && { others }) }];
  }
  const { job } = entry;
  const deadlineMs = jobDeadline(job, graceOf(state));
  if (deadlineMs > nowMs) {
    jobs.deadlines.move(entry.timer, deadlineMs);
    return [];
  }
  entry.heap = undefined;
  // An end asks no question, so it needs no id for one.
  const moment: Moment = { nowMs, newId: () => "", by: ITSELF };
  return endEvents(state, entry, { ending: outOfTime(state, job, nowMs), moment });
}

function outOfTime({ graceFromMs }: State, job: Job, nowMs: number): JobEnding {
  const { leaseExpiresAtMs = Infinity, maxRuntimeSec } = job;
  if (nowMs >= leaseExpiresAtMs) {
    return { status: "error", code: "LEASE_EXPIRED", reason: "the lease of the job expired" };
  }
  if (nowMs >= runsUntilMs(job, graceFromMs)) {
    return { status: "timed_out", code: "TIMED_OUT", reason: `ran longer than ${maxRuntimeSec} s` };
  }
  return { status: "cancelled", code: "CANCELLED", reason: job.cancelReason ?? "" };
}

/** The alias of a job as the source of a question. */
function aliasOf({ id }: Pick<Job, "id">): string {
  return `job:${id}`;
}

/** A job as the source of a report, for the question that it asks. */
function reportOf(job: JobStep, progress?: JobProgress): Report {
  const isOver = isTerminal(job.status);
  const facts: Facts = {
    name: job.agent,
    liveness: isOver
      ? { value: "exited", rule: `the job ended: ${job.status}` }
      : { value: "alive", rule: "the job runs" },
    ...(progress && { activity: progress.activity }),
    ...(progress?.question && { question: progress.question }),
  };
  return {
    alias: aliasOf(job),
    owner: ownerNamed(job.principal),
    agentId: agentRowId(job),
    links: [],
    order: 0,
    reportedAtMs: progress?.atMs ?? job.endedAtMs ?? 0,
    facts,
  };
}
