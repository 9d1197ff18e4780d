/**
 * Runs the agent of a job and makes an outcome of what it returns or throws.
 */
import { codeOf, RollcallError } from "../core/errors.ts";
import { RESULT, TERMS } from "../core/jobs/limits.ts";
import type { Outcome } from "../core/jobs/outcome.ts";
import type { Agents } from "./agents.ts";
import { JobContext, type ContextHost } from "./context.ts";
import type { RunAround } from "./observer.ts";
import type { Run } from "./run.ts";

/** Room for the rest of the frame around a result. */
const HEAD_BYTES = 2048;
/** Of a frame to a session that is gone. */
const FRAME_BYTES = 1024 * 1024;

export interface RunnerOptions {
  readonly agents: Agents;
  readonly host: ContextHost;
  readonly around: RunAround | undefined;
}

/** How the agent ended; it does not reject. */
export async function runAgent(run: Run, options: RunnerOptions): Promise<Outcome> {
  const { agents, host, around } = options;
  const context = new JobContext(run, host);
  try {
    const { driver } = agents.resolve(run.job.agent);
    const start = () => driver.run(run.input, context);
    const value = await (around ? around(run, start) : start());
    return await outcomeOf(run, context, value);
  } catch (error) {
    return failureOf(error);
  }
}

/** The result as it goes out: inline, or in chunks when it is too large for a frame. */
async function outcomeOf(run: Run, context: JobContext, value: unknown): Promise<Outcome> {
  const isNothing = value === undefined || value === null;
  if (run.result && !isNothing) {
    const message = "the agent streamed a result and returned another: do one of the two";
    throw new RollcallError("INVALID_ARGUMENT", message);
  }
  let writer = JobContext.writerOf(context);
  if (!run.result && !isNothing && !run.isOver) {
    const text = textOf(value) ?? "null";
    const most = Math.min(RESULT.inlineBytes, (run.owner?.frameBytes ?? FRAME_BYTES) - HEAD_BYTES);
    if (text.length * 3 <= most || Buffer.byteLength(text) <= most) {
      return { status: "success", result: { form: "inline", value } };
    }
    writer ??= context.streamResult();
    await writer.write(text);
  }
  await writer?.end();
  const { result } = run;
  if (!result) return { status: "success", result: { form: "none" } };
  if (!result.isEnded) {
    throw new RollcallError("INVALID_ARGUMENT", "the streamed result was not ended");
  }
  const { resultId, size } = result;
  const isJson = !isNothing || writer?.isJson === true;
  const summary = writer?.summary;
  return {
    status: "success",
    result: { form: "streamed", resultId, size, isJson },
    ...(summary !== undefined && { summary }),
  };
}

/** The text of a result; undefined for none. Throws for what JSON cannot say. */
function textOf(value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined;
  try {
    return JSON.stringify(value);
  } catch (cause) {
    throw new RollcallError("INTERNAL", "the result of the agent cannot be written as JSON", {
      cause,
    });
  }
}

/** The text of what the agent threw is its answer; nothing else of it is told. */
function failureOf(error: unknown): Outcome {
  const message = error instanceof Error ? error.message : "the agent failed";
  const details = detailsOf(error);
  return {
    status: "error",
    code: codeOf(error),
    message: message.slice(0, TERMS.reasonLength),
    ...(details && { details }),
  };
}

function detailsOf(error: unknown): Readonly<Record<string, unknown>> | undefined {
  const details = error instanceof Error && "details" in error ? error.details : undefined;
  if (typeof details !== "object" || details === null || Array.isArray(details)) return undefined;
  // They are part of the last entry of the job, which must go out whatever is in them.
  const text = textOf(details);
  return text === undefined || text.length > TERMS.detailsLength ? undefined : { ...details };
}
