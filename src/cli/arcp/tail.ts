/** `arcp tail`: what a job says, one JSON object a line, from its beginning to its end. */
import { buildCommand } from "@stricli/core";
import type { Context } from "../context.ts";
import { requiredFlag } from "../flags.ts";
import { about } from "../help.ts";
import { resultPayload, tellFailure } from "./endings.ts";
import { connect, runtimeFlags, type ArcpRuntimeFlags } from "./flags.ts";
import { pythonJson } from "./python-json.ts";

interface Flags extends ArcpRuntimeFlags {
  readonly jobId: string;
}

export const tail = buildCommand<Flags, [], Context>({
  docs: about(
    "Follow a job: what it said before, what it says, and at its end the payload of its " +
      "result. Parts of a streamed result are left out. Ctrl-C ends it; the job goes on.",
    {
      call: "arcp tail --url ws://127.0.0.1:7777/arcp --token tok --job-id JOB",
      does: "from the start",
    },
  ),
  parameters: {
    flags: {
      ...runtimeFlags,
      jobId: requiredFlag("JOB", "The job's id"),
    },
  },
  async func({ jobId, ...flags }) {
    const signal = this.untilInterrupted();
    await using client = await connect(this, flags, signal);
    const job = await client.subscribe(jobId, { signal });
    for await (const { kind, raw, ts } of job.events({ signal })) {
      if (kind !== "result_chunk") await this.out.line(pythonJson({ kind, body: raw, ts }));
    }
    if (signal.aborted) return;
    const ended = await job.ended;
    if (ended.status === "error") return await tellFailure(this, ended);
    await this.out.line(pythonJson(resultPayload(ended)));
  },
});
