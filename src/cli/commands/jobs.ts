/** `rollcall jobs`: which jobs there are, what one says, and its end. */
import { buildCommand } from "@stricli/core";
import type { ArcpClient } from "../../wires/arcp/client/client.ts";
import type { JobEntry } from "../../wires/arcp/client/types.ts";
import { RollcallError } from "../../core/errors.ts";
import type { Context } from "../context.ts";
import { lookOf, note, printJson } from "../daemon.ts";
import { argument, jsonFlag, parseCount, textFlag, textsFlag } from "../flags.ts";
import { about } from "../help.ts";
import { followJob, tellEnd } from "../jobs/follow.ts";
import { connectRuntime, runtimeFlags, type RuntimeFlags } from "../jobs/runtime.ts";
import type { Style } from "../terminal/output.ts";
import { factLines, tableLines } from "../terminal/table.ts";
import { ago, moment } from "../terminal/time.ts";

interface Flags extends RuntimeFlags {
  readonly json?: boolean;
}

const flags = { json: jsonFlag, ...runtimeFlags } as const;
const JOB = argument("JOB", "The job's id, or enough of its beginning");
const POSITIONAL = { kind: "tuple", parameters: [JOB] } as const;

const COLOURS: Readonly<Record<string, Style>> = {
  running: "blue",
  success: "green",
  error: "red",
  cancelled: "dim",
  timed_out: "yellow",
};

interface ListFlags extends Flags {
  readonly status?: readonly string[];
  readonly agent?: string;
  readonly limit: number;
}

const ls = buildCommand<ListFlags, [], Context>({
  docs: about(
    "List your jobs, those that are over included as long as the runtime keeps them.",
    { call: "rollcall jobs", does: "all" },
    { call: "rollcall jobs ls --status running --agent indexer", does: "some" },
  ),
  parameters: {
    flags: {
      status: textsFlag("STATUS", "pending, running, success, error, cancelled or timed_out"),
      agent: textFlag("AGENT", "Only of this agent"),
      limit: {
        kind: "parsed",
        parse: parseCount,
        default: "1000",
        placeholder: "N",
        brief: "At most so many [1000]",
      },
      ...flags,
    },
  },
  async func({ status, agent, limit, ...given }) {
    const signal = this.untilInterrupted();
    await using client = await connectRuntime(this, given, signal);
    const filter = { ...(status && { status }), ...(agent !== undefined && { agent }) };
    const jobs: JobEntry[] = [];
    for await (const job of client.listJobs({ ...filter, signal })) {
      if (jobs.push(job) === limit) break;
    }
    if (given.json === true) return await printJson(this, { jobs });
    if (jobs.length === 0) return await note(this, "no jobs");
    const columns = [
      { title: "JOB" },
      { title: "AGENT", least: 8 },
      { title: "STATUS" },
      { title: "AGE", isNumber: true },
      { title: "PARENT", isExtra: true },
    ];
    const rows = jobs.map((job) => [
      job.jobId,
      job.agent,
      { text: job.status, style: COLOURS[job.status] ?? "dim" },
      job.createdAt === undefined ? "" : ago(Date.parse(job.createdAt), Date.now()),
      job.parentJobId ?? "",
    ]);
    for (const line of tableLines(columns, rows, lookOf(this))) await this.out.line(line);
  },
});

const get = buildCommand<Flags, [string], Context>({
  docs: about("Show one job: what it may do, and how it is.", {
    call: "rollcall jobs get job_01KZ4TA0",
    does: "the beginning of its id is enough",
  }),
  parameters: { flags, positional: POSITIONAL },
  async func(given, id) {
    await using client = await connectRuntime(this, given, this.untilInterrupted());
    const job = await find(client, id);
    if (given.json === true) return await printJson(this, job);
    const lease = Object.entries(job.lease).map(([name, each]) => `${name}: ${each.join(", ")}`);
    const facts = [
      ["job", job.jobId],
      ["agent", job.agent],
      ["status", { text: job.status, style: COLOURS[job.status] ?? "dim" }],
      ["created", job.createdAt ? moment(Date.parse(job.createdAt), Date.now()) : ""],
      ["parent", job.parentJobId ?? ""],
      ["trace", job.traceId ?? ""],
      ...lease.map((line, i) => [i === 0 ? "lease" : " ".repeat(i), line] as const),
    ] as const;
    for (const line of factLines(facts, lookOf(this))) await this.out.line(line);
  },
});

const tail = buildCommand<Flags, [string], Context>({
  docs: about(
    "Follow a job: what it said before, what it says, and its result on stdout. Ctrl-C ends " +
      "the looking; the job goes on.",
    { call: "rollcall jobs tail job_01KZ4TA0", does: "also of a job that is over" },
  ),
  parameters: { flags, positional: POSITIONAL },
  async func(given, id) {
    const stop = new AbortController();
    await using client = await connectRuntime(this, given, stop.signal);
    const { jobId } = await find(client, id);
    const job = await client.subscribe(jobId);
    await followJob(this, job, {
      isFollowing: true,
      isJson: given.json === true,
      onInterrupt: "leave",
    });
  },
});

interface CancelFlags extends Flags {
  readonly reason?: string;
}

const cancel = buildCommand<CancelFlags, [string], Context>({
  docs: about("Cancel a job, and wait for its end.", {
    call: "rollcall jobs cancel job_01KZ4TA0 --reason 'wrong input'",
    does: "and says why",
  }),
  parameters: {
    flags: { reason: textFlag("TEXT", "Why, for whoever looks at it later"), ...flags },
    positional: POSITIONAL,
  },
  async func({ reason, ...given }, id) {
    const signal = this.untilInterrupted();
    await using client = await connectRuntime(this, given, signal);
    const { jobId } = await find(client, id);
    const job = await client.subscribe(jobId, { signal });
    await job.cancel(reason);
    const end = await job.ended;
    if (given.json === true) return await tellEnd(this, end, true);
    const how = end.status === "cancelled" ? "is cancelled" : `was over: ${end.status}`;
    await note(this, `job ${jobId} ${how}`);
  },
});

/** A job by the beginning of its id. */
async function find(client: ArcpClient, given: string): Promise<JobEntry> {
  const found: JobEntry[] = [];
  for await (const job of client.listJobs()) {
    if (job.jobId === given) return job;
    if (job.jobId.startsWith(given) || job.jobId.startsWith(`job_${given}`)) found.push(job);
  }
  const [first, second] = found;
  if (!first) throw new RollcallError("NOT_FOUND", `no job has an id that begins ${given}`);
  if (!second) return first;
  const some = `${first.jobId}, ${second.jobId}`;
  const message = `the ids of ${found.length} jobs begin ${given}: ${some}…`;
  throw new RollcallError("INVALID_ARGUMENT", message);
}

export const jobs = { ls, get, tail, cancel } as const;
