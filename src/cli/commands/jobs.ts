/** `rollcall jobs`: which jobs there are, what one says, and its end. */
import { buildCommand } from "@stricli/core";
import type { ArcpClient } from "../../wires/arcp/client/client.ts";
import type { ListedJob } from "../../wires/arcp/client/types.ts";
import { refusalError, RollcallError } from "../../core/errors.ts";
import { placeOfJob } from "../../core/host-jobs.ts";
import { meant } from "../../core/meant.ts";
import type { Context } from "../context.ts";
import { lookOf, note, printJson } from "../print.ts";
import { argument, jsonFlag, textFlag } from "../flags.ts";
import { about } from "../help.ts";
import { followJob, tellEnd } from "../jobs/follow.ts";
import { cancelThere, showThere } from "../jobs/host-jobs.ts";
import { JOB_COLOURS, list } from "../jobs/list.ts";
import { connectRuntime, jobFlags, type RuntimeFlags } from "../jobs/runtime.ts";
import { factLines } from "../terminal/table.ts";
import { momentText } from "../terminal/time.ts";

interface Flags extends RuntimeFlags {
  readonly json?: boolean;
}

const flags = { json: jsonFlag, ...jobFlags } as const;
const JOB = argument("JOB", "The job's id, its beginning, or its agent where it has one job");
const POSITIONAL = { kind: "tuple", parameters: [JOB] } as const;

const get = buildCommand<Flags, [string], Context>({
  docs: about("Show one job: its lease, its budget and its state.", {
    call: "rollcall jobs get echo",
    does: "by its agent, its id, or the beginning of it",
  }),
  parameters: { flags, positional: POSITIONAL },
  async func(given, id) {
    if (placeOfJob(id)) return showThere(this, given, id);
    await using client = await connectRuntime(this, given, this.untilInterrupted());
    const job = await find(client, id);
    if (given.json === true) return await printJson(this, job);
    const lease = Object.entries(job.lease).map(([name, each]) => `${name}: ${each.join(", ")}`);
    const facts = [
      ["job", job.jobId],
      ["agent", job.agent],
      ["status", { text: job.status, style: JOB_COLOURS[job.status] ?? "dim" }],
      ["created", job.createdAt ? momentText(Date.parse(job.createdAt), Date.now()) : ""],
      ["parent", job.parentJobId ?? ""],
      ["trace", job.traceId ?? ""],
      ...lease.map((line, i) => [i === 0 ? "lease" : " ".repeat(i), line] as const),
    ] as const;
    for (const line of factLines(facts, lookOf(this))) await this.out.line(line);
  },
});

const tail = buildCommand<Flags, [string], Context>({
  docs: about(
    "Follow a job: what it said before, what it says, and its result on stdout. Ctrl-C stops " +
      "following; the job goes on.",
    { call: "rollcall jobs tail echo", does: "also of a job that ended" },
  ),
  parameters: { flags, positional: POSITIONAL },
  async func(given, id) {
    const there = placeOfJob(id);
    if (there) {
      const { host, jobId } = there;
      const fix = `on ${host}: rollcall jobs tail ${jobId}`;
      throw new RollcallError("WRONG_STATE", `what ${id} says stays on its machine; ${fix}`);
    }
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
    call: "rollcall jobs cancel echo --reason 'wrong input'",
    does: "and says why",
  }),
  parameters: {
    flags: { reason: textFlag("TEXT", "Why, for the record"), ...flags },
    positional: POSITIONAL,
  },
  async func({ reason, ...given }, id) {
    const there = placeOfJob(id);
    if (there) return cancelThere(this, given, { ...there, reason });
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

/** A job by its id, by the beginning of it, with or without job_, or by its agent's name. */
async function find(client: ArcpClient, given: string): Promise<ListedJob> {
  const jobs: ListedJob[] = [];
  for await (const job of client.listJobs()) jobs.push(job);
  const word = /^[0-9A-Z]+$/.test(given) ? `job_${given}` : given;
  const found = meant(jobs, namesOf, { word, noun: "job" });
  if (!found.ok) throw refusalError(found);
  return found.item;
}

function namesOf({ jobId, agent, status }: ListedJob) {
  return { id: jobId, name: agent, isHere: status === "pending" || status === "running" };
}

export const jobs = { list, get, tail, cancel } as const;
