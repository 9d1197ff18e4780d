/** Jobs of other machines, which the team's daemon knows as their outposts tell of them. */
import { withHost } from "../../core/host-jobs.ts";
import { call } from "../api.ts";
import type { Context } from "../context.ts";
import { daemonOf } from "../daemon.ts";
import { lookOf, note, printJson } from "../print.ts";
import { factLines } from "../terminal/table.ts";
import { momentText } from "../terminal/time.ts";
import { JOB_COLOURS } from "./list.ts";
import type { RuntimeFlags } from "./runtime.ts";

interface Flags extends RuntimeFlags {
  readonly json?: boolean;
}

interface JobThere {
  readonly host: string;
  readonly jobId: string;
  readonly reason: string | undefined;
}

/** A job of an outpost: its own daemon cancels it, and tells of its end. */
export async function cancelThere(context: Context, flags: Flags, job: JobThere): Promise<void> {
  await using daemon = daemonOf(context, flags);
  const { host, jobId, reason = "" } = job;
  await call(daemon, "outposts.cancel", { input: { host, jobId, reason } });
  if (flags.json === true) return await printJson(context, { jobId: withHost(jobId, host) });
  await note(context, `job ${withHost(jobId, host)} is being cancelled`);
}

export async function showThere(context: Context, flags: Flags, jobId: string): Promise<void> {
  await using daemon = daemonOf(context, flags);
  const { job } = await call(daemon, "jobs.get", { input: { jobId } });
  if (flags.json === true) return await printJson(context, job);
  const { id, agent, principal, host, silentSinceMs, status, submittedAtMs, parent } = job;
  const nowMs = Date.now();
  const silent = silentSinceMs > 0 ? `, silent since ${momentText(silentSinceMs, nowMs)}` : "";
  const facts = [
    ["job", id],
    ["agent", agent],
    ["status", { text: status, style: JOB_COLOURS[status] ?? "dim" }],
    ["why", job.reason || job.code],
    ["created", momentText(submittedAtMs, nowMs)],
    ["for", principal],
    ["host", host + silent],
    ["parent", parent],
  ] as const;
  for (const line of factLines(facts, lookOf(context))) await context.out.line(line);
}
