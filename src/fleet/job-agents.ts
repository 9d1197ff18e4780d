/**
 * Agents that run jobs, as rows of the fleet: what their jobs do, ask and came to. The jobs nest in
 * the row of their agent; a page of all of them is in `jobs`.
 */
import { asLine } from "../core/fields.ts";
import { progressOf, type JobProgress } from "../core/job-progress.ts";
import { PROGRESS } from "../core/jobs/limits.ts";
import { jobSummary, type HostJob } from "../core/host-jobs.ts";
import { isTerminal } from "../core/jobs/outcome.ts";
import { summaryOf, type JobSummary } from "../core/job-listing.ts";
import { byText } from "../core/text.ts";
import type { Job, JobEntry, Jobs } from "../core/jobs.ts";
import type {
  Activity,
  ReportedQuestion,
  Facts,
  ReportedOutcome,
  Report,
} from "../core/reports.ts";
import type { State } from "../core/state.ts";
import { EVERYTHING, seesJob, type Sight } from "../core/visibility.ts";
import { SHOWN_JOBS, unfinishedOf, type UnfinishedJobs } from "./unfinished-jobs.ts";

/** A job in the row of its agent. */
export interface RowJob extends JobSummary {
  readonly activity: Activity;
  /** Its work, question or result, in a few words. */
  readonly why: string;
  readonly question: ReportedQuestion | null;
}

/** The jobs of an agent: how many, and the newest of them. */
export interface RowJobs {
  readonly running: number;
  readonly waiting: number;
  /** The unfinished first, then the ended; each the newest first. */
  readonly newest: readonly RowJob[];
}

/** The jobs of an agent as a view keeps them, or as a state has them. */
export type UnfinishedIn = (rowId: string) => UnfinishedJobs;

export interface JobsView {
  readonly sight: Sight;
  /** Absent where none are kept: then they are looked at one by one. */
  readonly unfinished?: UnfinishedIn | undefined;
}

const ALL: JobsView = { sight: EVERYTHING };

export function jobsOfRow(state: State, rowId: string, seen = ALL): RowJobs | null {
  const { jobs } = state;
  const agent = jobs.byAgent.get(rowId);
  if (!agent) return seen.sight.owner === undefined ? hostJobsOfRow(state, rowId) : null;
  const { running, waiting, newest } = unfinishedIn(state, rowId, seen);
  const ended = agent.ended.filter((id) => seesJob(seen.sight, jobs.byId.get(id)?.job));
  const ids = [...newest, ...ended.reverse()].slice(0, SHOWN_JOBS);
  return { running, waiting, newest: ids.flatMap((id) => entriesOf(jobs, id)).map(rowJob) };
}

/** Of an agent on a machine that reports here. */
function hostJobsOfRow(state: State, rowId: string): RowJobs | null {
  const { ofRow, byId } = state.hostJobs;
  const ids = [...ofRow.of(rowId)].sort((a, b) => byText(b, a));
  if (ids.length === 0) return null;
  const all = ids.flatMap((id) => byId.get(id)?.job ?? []);
  const unfinished = all.filter(({ status }) => !isTerminal(status));
  const running = unfinished.filter(({ status }) => status === "running").length;
  const ended = all.filter(({ status }) => isTerminal(status));
  const newest = [...unfinished, ...ended]
    .slice(0, SHOWN_JOBS)
    .map((job) => hostRowJob(state, job));
  return { running, waiting: unfinished.length - running, newest };
}

/** What it says stays on its machine. */
function hostRowJob(state: State, job: HostJob): RowJob {
  const summary = { ...jobSummary(state, job), question: null };
  if (isTerminal(job.status))
    return { ...summary, activity: "idle", why: endOf(job) || job.status };
  if (job.status === "pending") return { ...summary, activity: "waiting", why: "waits for a slot" };
  return { ...summary, activity: "working", why: "working" };
}

function unfinishedIn(state: State, rowId: string, seen: JobsView): UnfinishedJobs {
  return seen.unfinished?.(rowId) ?? unfinishedOf(state, rowId, seen.sight);
}

/**
 * The jobs of an agent as a report: a source like all others. Nothing where none of them are seen,
 * and for an agent that nobody hosts any more and that runs nothing: it is no longer here.
 */
export function jobReport(state: State, rowId: string, seen = ALL): Report | undefined {
  const { jobs, reports } = state;
  const agent = jobs.byAgent.get(rowId);
  if (!agent) return undefined;
  const unfinished = unfinishedIn(state, rowId, seen);
  const { running } = unfinished;
  if (running + unfinished.waiting === 0 && !reports.byAlias.has(rowId)) return undefined;
  const last = lastSeen(jobs, agent.ended, seen.sight);
  const isSeen = running + unfinished.waiting > 0 || last !== undefined;
  if (seen.sight !== EVERYTHING && !isSeen) return undefined;
  const question = entriesOf(jobs, unfinished.asking).map(progressNow)[0]?.question;
  const atMs = Math.max(last?.endedAtMs ?? 0, unfinished.saidAtMs);
  const facts: Facts = {
    name: rowId.slice(rowId.indexOf(":") + 1),
    liveness:
      running > 0
        ? { value: "alive", rule: "it runs a job" }
        : { value: "unknown", rule: "it runs no job" },
    activity: activityOf(entriesOf(jobs, unfinished.someRunning), running),
    ...(question && { question }),
    ...(last && { outcome: outcomeOf(last) }),
    ...(atMs > 0 && { lastActivityAtMs: atMs }),
  };
  const alias = `jobs${rowId.slice(rowId.indexOf("@"))}`;
  const sinceMs = running > 0 ? unfinished.begunAtMs : (last?.endedAtMs ?? 0);
  const about = { alias, agentId: rowId, links: [], order: atMs, reportedAtMs: atMs };
  return { ...about, ...(sinceMs > 0 && { sinceMs }), facts };
}

/** None or one. */
function entriesOf({ byId }: Jobs, id: string | undefined): readonly JobEntry[] {
  const entry = id === undefined ? undefined : byId.get(id);
  return entry ? [entry] : [];
}

function lastSeen(jobs: Jobs, ended: readonly string[], sight: Sight): Job | undefined {
  const id = ended.findLast((each) => seesJob(sight, jobs.byId.get(each)?.job));
  return jobs.byId.get(id ?? "")?.job;
}

/** As it is now; of a past moment, as the log last had it. */
function progressNow({ job, pulse, purse, progress }: JobEntry): JobProgress {
  if (pulse) return progressOf(pulse, purse);
  const activity = { value: "working", rule: "the job runs" } as const;
  return progress ?? { activity, atMs: job.startedAtMs };
}

function activityOf([one]: readonly JobEntry[], running: number): NonNullable<Facts["activity"]> {
  if (!one) return { value: "idle", rule: "it runs no job" };
  if (running === 1) return progressNow(one).activity;
  return { value: "working", rule: "its jobs", message: `${running} jobs` };
}

const OUTCOMES: Readonly<Record<Job["status"], ReportedOutcome>> = {
  pending: "success",
  running: "success",
  success: "success",
  error: "failed",
  timed_out: "failed",
  cancelled: "cancelled",
};

function outcomeOf(job: Job): NonNullable<Facts["outcome"]> {
  const text = endOf(job);
  return {
    value: OUTCOMES[job.status],
    rule: `its last job ended: ${job.status}`,
    atMs: job.endedAtMs,
    ...(text !== "" && { text }),
  };
}

/** The reason of a cancel says nothing without that word. */
function endOf({ status, reason }: Pick<Job, "status" | "reason">): string {
  if (reason === "") return "";
  return asLine(status === "cancelled" ? `cancelled: ${reason}` : reason, PROGRESS.textLength);
}

function rowJob(entry: JobEntry): RowJob {
  const { job } = entry;
  const summary = summaryOf(job);
  if (job.endedAtMs > 0) {
    return { ...summary, activity: "idle", why: endOf(job) || job.status, question: null };
  }
  if (job.status === "pending") {
    return { ...summary, activity: "waiting", why: "waits for a slot", question: null };
  }
  const { activity, question } = progressNow(entry);
  const asked = question?.value ?? null;
  const doing = [activity.message, activity.task].filter(Boolean).join(", ");
  const why = asked?.text || doing || activity.value;
  return { ...summary, activity: activity.value, why, question: asked };
}
