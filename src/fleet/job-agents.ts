/**
 * Agents that run jobs, as rows of the fleet: what their jobs do, ask and came to. The jobs nest in
 * the row of their agent; a page of all of them is in `jobs`.
 */
import { asLine } from "../core/fields.ts";
import { progressOf, type JobProgress } from "../core/job-progress.ts";
import { PROGRESS } from "../core/jobs/limits.ts";
import { summaryOf, type JobSummary } from "../core/job-listing.ts";
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

/** The most jobs that a row shows. */
const SHOWN = 20;

export function jobsOfRow({ jobs }: State, rowId: string, sight = EVERYTHING): RowJobs | null {
  const agent = jobs.byAgent.get(rowId);
  if (!agent) return null;
  const unfinished = entriesOf(jobs, agent.unfinished, sight);
  const ended = entriesOf(jobs, agent.ended, sight);
  const running = unfinished.filter(({ job }) => job.status === "running").length;
  return {
    running,
    waiting: unfinished.length - running,
    newest: [...unfinished.reverse(), ...ended.reverse()].slice(0, SHOWN).map(rowJob),
  };
}

/**
 * The jobs of an agent as a report: a source like all others. Nothing where none of them are seen,
 * and for an agent that nobody hosts any more and that runs nothing: it is no longer here.
 */
export function jobReport(
  { jobs, reports }: State,
  rowId: string,
  sight = EVERYTHING,
): Report | undefined {
  const agent = jobs.byAgent.get(rowId);
  if (!agent || (agent.unfinished.size === 0 && !reports.byAlias.has(rowId))) return undefined;
  const unfinished = entriesOf(jobs, agent.unfinished, sight);
  const running = unfinished.filter(({ job }) => job.status === "running");
  const last = lastSeen(jobs, agent.ended, sight);
  if (sight !== EVERYTHING && unfinished.length === 0 && !last) return undefined;
  const progress = running.map(progressNow);
  const question = oldestQuestion(progress);
  const atMs = Math.max(last?.endedAtMs ?? 0, ...progress.map((each) => each.atMs));
  const facts: Facts = {
    name: rowId.slice(rowId.indexOf(":") + 1),
    liveness:
      running.length > 0
        ? { value: "alive", rule: "it runs a job" }
        : { value: "unknown", rule: "it runs no job" },
    activity: activityOf(progress),
    ...(question && { question }),
    ...(last && { outcome: outcomeOf(last) }),
    ...(atMs > 0 && { lastActivityAtMs: atMs }),
  };
  const alias = `jobs${rowId.slice(rowId.indexOf("@"))}`;
  const begunAtMs = running.map(({ job }) => job.startedAtMs);
  const sinceMs = running.length > 0 ? Math.min(...begunAtMs) : (last?.endedAtMs ?? 0);
  const about = { alias, agentId: rowId, links: [], order: atMs, reportedAtMs: atMs };
  return { ...about, ...(sinceMs > 0 && { sinceMs }), facts };
}

function entriesOf(jobs: Jobs, ids: Iterable<string>, sight: Sight): JobEntry[] {
  const entries = [...ids].flatMap((id) => jobs.byId.get(id) ?? []);
  return sight === EVERYTHING ? entries : entries.filter(({ job }) => seesJob(sight, job));
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

function activityOf(running: readonly JobProgress[]): NonNullable<Facts["activity"]> {
  const [only] = running;
  if (!only) return { value: "idle", rule: "it runs no job" };
  if (running.length === 1) return only.activity;
  return { value: "working", rule: "its jobs", message: `${running.length} jobs` };
}

function oldestQuestion(running: readonly JobProgress[]): Facts["question"] {
  return running
    .flatMap(({ question }) => question ?? [])
    .sort((a, b) => a.value.sinceMs - b.value.sinceMs)[0];
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
function endOf({ status, reason }: Job): string {
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
