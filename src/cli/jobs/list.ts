/**
 * `rollcall jobs list`: the jobs of the daemon, now or at a moment of the past. A runtime that is
 * named in full (ws://…) may be no daemon of ours: it is asked over ARCP, which knows only now.
 */
import { invalidArgument } from "../../core/errors.ts";
import type { JobSummary } from "../../core/job-listing.ts";
import type { JobStatus } from "../../core/jobs/outcome.ts";
import type { InputOf } from "../../operations/table.ts";
import type { ListedJob } from "../../wires/arcp/client/types.ts";
import type { Context } from "../context.ts";
import { daemonOf } from "../daemon.ts";
import { lookOf, note, printJson } from "../print.ts";
import { listFlags, type ListFlags } from "../flags.ts";
import { daemonList, tableRows, showList, type ListColumn, type ListSpec } from "../listing.ts";
import { commandLine } from "../operation.ts";
import type { Style } from "../terminal/output.ts";
import type { Cell } from "../terminal/table.ts";
import { ago } from "../terminal/time.ts";
import { agentOfJobs, jobAgent } from "./agents.ts";
import { connectRuntime, isRuntimeUrl, jobFlags, type RuntimeFlags } from "./runtime.ts";

export const JOB_COLOURS: Readonly<Record<string, Style>> = {
  running: "blue",
  success: "green",
  error: "red",
  cancelled: "dim",
  timed_out: "yellow",
};

interface JobFilters {
  readonly status?: readonly JobStatus[];
  readonly agent?: string;
  readonly host?: string;
  readonly at?: number;
}

type Flags = JobFilters & ListFlags & RuntimeFlags;

type Input = Pick<InputOf<"jobs.list">, "status" | "agent" | "host" | "at">;

/** As much of a job as both tell. */
type JobRow = Pick<JobSummary, "id" | "agent" | "parent" | "submittedAtMs"> & {
  readonly status: string;
  readonly principal?: string;
  readonly host?: string;
  readonly silentSinceMs?: number;
};

const COLUMNS: readonly ListColumn<JobRow>[] = [
  { title: "JOB", cell: ({ id }) => id },
  { title: "AGENT", least: 8, cell: ({ agent }) => agent },
  { title: "STATUS", cell: statusOf },
  { title: "AGE", isNumber: true, cell: (job, { nowMs }) => ageOf(job, nowMs) },
  { title: "FOR", isExtra: true, cell: ({ principal = "" }) => principal },
  { title: "PARENT", isExtra: true, cell: ({ parent }) => parent },
];

/** Of a machine that is silent nobody knows how its jobs are now. */
function statusOf({ status, silentSinceMs = 0 }: JobRow): Cell {
  if (silentSinceMs > 0) return { text: `${status}, silent`, style: "dim" };
  return { text: status, style: JOB_COLOURS[status] ?? "dim" };
}

/** A runtime may keep to itself when it was. */
function ageOf({ submittedAtMs }: JobRow, nowMs: number): string {
  return Number.isNaN(submittedAtMs) ? "" : ago(submittedAtMs, nowMs);
}

const VIEW: Omit<ListSpec<JobRow>, "input"> = {
  operation: "jobs.list",
  noun: "jobs",
  topics: ["job.", "outpost."],
  columns: COLUMNS,
  key: ({ id }) => id,
  nothing: "no jobs",
};

const line = commandLine<JobFilters>("jobs.list", {
  words: { status: "--status", agent: "--agent AGENT", host: "--host HOST", at: "--at TIME" },
  more: "Of a runtime at ws://… they are those of the token, as that runtime lists them.",
  examples: [
    { call: "rollcall jobs", does: "all" },
    { call: "rollcall jobs --status running --agent indexer", does: "some" },
    { call: "rollcall jobs --watch", does: "the same, live" },
    { call: "rollcall at 14:03 jobs", does: "as they were then" },
  ],
});

export const list = line.command<ListFlags & RuntimeFlags>(
  { ...listFlags, ...jobFlags },
  async (context, typed) => {
    const { flags } = typed;
    if (isRuntimeUrl(flags.url)) return listAtRuntime(context, flags);
    await using daemon = daemonOf(context, flags);
    const { agent, ...input } = (await line.input({ ...typed, daemon, context })) as Input;
    const named = agent === undefined ? {} : { agent: await agentOfJobs(daemon, agent, input.at) };
    const listing: ListSpec<JobRow> = { ...VIEW, input: { ...input, ...named } };
    await showList({ context, source: daemonList(daemon, listing), look: listing, flags });
  },
);

async function listAtRuntime(context: Context, flags: Flags): Promise<void> {
  const { status, agent, limit } = flags;
  if (flags.at !== undefined || flags.watch === true) {
    throw invalidArgument(`--at and --watch need a daemon: ${flags.url} is asked over ARCP`);
  }
  const signal = context.untilInterrupted();
  await using client = await connectRuntime(context, flags, signal);
  const { agents } = client.session;
  // Another runtime need not tell which agents it has.
  const named = agent !== undefined && agents.length > 0 ? jobAgent(agents, agent) : agent;
  const filter = { ...(status && { status }), ...(named !== undefined && { agent: named }) };
  const jobs: ListedJob[] = [];
  for await (const job of client.listJobs({ ...filter, signal })) {
    if (jobs.push(job) === limit) break;
  }
  if (flags.json === true) return await printJson(context, { jobs });
  if (jobs.length === 0) return await note(context, VIEW.nothing);
  const look = { look: lookOf(context), isWhole: true };
  for (const each of tableRows(VIEW, { items: jobs.map(rowOf) }, look))
    await context.out.line(each);
}

function rowOf({ jobId, agent, status, createdAt = "", parentJobId = "" }: ListedJob): JobRow {
  return { id: jobId, agent, status, submittedAtMs: Date.parse(createdAt), parent: parentJobId };
}
