/** `rollcall run`: a job on an agent, its result on stdout. */
import { buildCommand } from "@stricli/core";
import type { LeaseShape } from "../../wires/arcp/client/types.ts";
import type { Context } from "../context.ts";
import { note } from "../print.ts";
import { parseDuration } from "../durations.ts";
import { argument, jsonFlag, switchFlag, textFlag, valueFlag } from "../flags.ts";
import { about } from "../help.ts";
import { jobAgent, listJobAgents } from "../jobs/agents.ts";
import { followJob } from "../jobs/follow.ts";
import { inputOf, leaseOf, parseBudgetFlag, parseGrant } from "../jobs/inputs.ts";
import { connectRuntime, isRuntimeUrl, jobFlags, type RuntimeFlags } from "../jobs/runtime.ts";
import { clean } from "../terminal/clean.ts";

interface Flags extends RuntimeFlags {
  readonly lease?: readonly LeaseShape[];
  readonly budget?: readonly string[];
  readonly maxRuntime?: number;
  readonly key?: string;
  readonly follow?: boolean;
  readonly detach?: boolean;
  readonly text?: boolean;
  readonly json?: boolean;
}

const MANY = "may be given several times";

export const run = buildCommand<Flags, [string?, string?], Context>({
  docs: about(
    "Run a job on an agent and print its result; without AGENT, list the agents that take jobs. " +
      "INPUT is JSON, or else a text; - is stdin. " +
      "The lease says what the job may do, the budget what it may spend. Ctrl-C cancels the job, " +
      "a second one leaves it. It ends with 0, or with 1 when the job failed, 124 when it ran " +
      "out of time, 130 when it was cancelled.",
    { call: "rollcall run", does: "lists the agents that take jobs" },
    { call: `rollcall run echo '{"hi": 1}'`, does: "and wait for the result" },
    { call: "rollcall run indexer /data --lease 'fs.read=/data/**'", does: "with a lease" },
    { call: "rollcall run writer --budget USD:5 --follow > out.md", does: "with all its events" },
    { call: "rollcall run nightly --detach", does: "prints the job's id" },
  ),
  parameters: {
    flags: {
      lease: {
        ...valueFlag("GRANT", `The lease: fs.read=/data/**, or JSON; ${MANY}`, parseGrant),
        variadic: true,
      },
      budget: {
        ...valueFlag("AMOUNT", `The budget: USD:5; ${MANY}`, parseBudgetFlag),
        variadic: true,
      },
      maxRuntime: valueFlag("TIME", "How long it may take", parseDuration),
      key: textFlag("KEY", "Idempotency key: submitted again, it is the same job"),
      follow: switchFlag("Show all events, not only problems"),
      detach: switchFlag("Print its id and do not wait"),
      text: switchFlag("INPUT is a text, also where it looks like JSON"),
      json: { ...jsonFlag, brief: "The result as JSON, for programs" },
      ...jobFlags,
    },
    positional: {
      kind: "tuple",
      parameters: [
        { ...argument("AGENT", "Who does it: NAME or NAME@VERSION"), optional: true },
        { ...argument("INPUT", "What it gets: JSON, else a text; - is stdin"), optional: true },
      ],
    },
  },
  async func({ lease = [], budget = [], maxRuntime, key, ...flags }, given, word) {
    const input = await inputOf(word, { isText: flags.text === true });
    // An interruption ends the job, and only then the client.
    const stop = new AbortController();
    await using client = await connectRuntime(this, flags, stop.signal);
    const { agents } = client.session;
    if (given === undefined) return await listJobAgents(this, agents, flags.json === true);
    // Another runtime need not tell which agents it has.
    const isUnknown = agents.length === 0 && isRuntimeUrl(flags.url);
    const job = await client.submit({
      agent: isUnknown ? given : jobAgent(agents, given),
      input,
      lease: leaseOf(lease, budget),
      ...(maxRuntime !== undefined && { maxRuntimeSec: Math.max(1, Math.ceil(maxRuntime / 1000)) }),
      ...(key !== undefined && { idempotencyKey: key }),
    });
    if (flags.detach === true) return await this.out.line(clean(job.id));
    if (flags.follow === true || !this.err.isTerminal)
      await note(this, `job ${job.id} on ${job.agent}`);
    await followJob(this, job, {
      isFollowing: flags.follow === true,
      isJson: flags.json === true,
      onInterrupt: "cancel",
    });
  },
});
