/**
 * Runs the agent of a job and makes an outcome of what it returns or throws.
 */
import { codeOf, invalidArgument, RollcallError } from "../core/errors.ts";
import { isRecord, type JsonRecord } from "../core/json-object.ts";
import { RESULT, TERMS } from "../core/jobs/limits.ts";
import type { JobResult, Outcome } from "../core/jobs/outcome.ts";
import type { JobAgents } from "./agents.ts";
import { JobContext, type ContextHost } from "./context.ts";
import type { RunAround } from "./observer.ts";
import type { ResultWriter } from "./result-writer.ts";
import type { Run } from "./run.ts";

/** Room for the rest of the frame around a result. */
const HEAD_BYTES = 2048;
/** Of a frame to a session that is gone. */
const FRAME_BYTES = 1024 * 1024;

export interface RunnerOptions {
  readonly agents: JobAgents;
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
    const outcome = outcomeOf(run, context, value);
    // Most are there already: no turn is lost on them.
    return outcome instanceof Promise ? await outcome : outcome;
  } catch (error) {
    return failureOf(error);
  }
}

/** The result as it goes out: inline, or in chunks when it is too large for a frame. */
function outcomeOf(run: Run, context: JobContext, value: unknown): Outcome | Promise<Outcome> {
  const isNothing = value === undefined || value === null;
  if (run.result && !isNothing) {
    const message = "the agent streamed a result and returned another: do one of the two";
    throw invalidArgument(message);
  }
  const writer = JobContext.writerOf(context);
  if (run.result || isNothing || run.isOver) {
    return writer ? streamed(run, writer) : { status: "success", result: resultOf(run, false) };
  }
  const text = textOf(value) ?? "null";
  const most = Math.min(RESULT.inlineBytes, (run.owner?.frameBytes ?? FRAME_BYTES) - HEAD_BYTES);
  if (text.length * 3 <= most || Buffer.byteLength(text) <= most) {
    return { status: "success", result: { form: "inline", value } };
  }
  return streamed(run, writer ?? context.streamResult(), text);
}

/** The end of a stream, after the JSON text of the result where the agent returned one. */
async function streamed(run: Run, writer: ResultWriter, text?: string): Promise<Outcome> {
  if (text !== undefined) await writer.write(text);
  await writer.end();
  const { summary } = writer;
  const result = resultOf(run, text !== undefined || writer.isJson);
  return { status: "success", result, ...(summary !== undefined && { summary }) };
}

function resultOf({ result }: Run, isJson: boolean): JobResult {
  if (!result) return { form: "none" };
  const { resultId, size, isEnded } = result;
  if (!isEnded) throw invalidArgument("the streamed result was not ended");
  return { form: "streamed", resultId, size, isJson };
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

function detailsOf(error: unknown): JsonRecord | undefined {
  const details = error instanceof Error && "details" in error ? error.details : undefined;
  if (!isRecord(details)) return undefined;
  // They are part of the last entry of the job, which must go out whatever is in them.
  const text = textOf(details);
  return text === undefined || text.length > TERMS.detailsLength ? undefined : { ...details };
}
