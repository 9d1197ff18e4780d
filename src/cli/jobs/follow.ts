/**
 * From a job that runs to what its command leaves behind: events on stderr, the result on stdout,
 * and a number that says how it went.
 *
 *   success 0   failed 1   timed out 124, as of timeout(1)   cancelled 130, as of Ctrl-C
 */
import type { JobHandle } from "../../wires/arcp/client/job.ts";
import type { JobEnd } from "../../wires/arcp/client/types.ts";
import type { Context } from "../context.ts";
import { note } from "../print.ts";
import { clean, cleanJson } from "../terminal/clean.ts";
import { JobView } from "./view.ts";

const EXIT_OF: Readonly<Record<JobEnd["status"], number>> = {
  success: 0,
  error: 1,
  timed_out: 124,
  cancelled: 130,
};

export interface JobFollowOptions {
  readonly isFollowing: boolean;
  readonly isJson: boolean;
  /** The effect of Ctrl-C: cancels the job, or only ends following it. */
  readonly onInterrupt: "cancel" | "leave";
}

export async function followJob(
  context: Context,
  job: JobHandle,
  { isFollowing, isJson, onInterrupt }: JobFollowOptions,
): Promise<void> {
  const interrupted = context.untilInterrupted();
  const stop = new AbortController();
  await using view = new JobView(context, job, { isFollowing });
  const interrupt = () => {
    if (onInterrupt === "leave") return stop.abort();
    view.say("cancelling; Ctrl-C again leaves");
    job.cancel("interrupted").catch(() => undefined);
  };
  if (interrupted.aborted) interrupt();
  interrupted.addEventListener("abort", interrupt, { once: true });
  try {
    for await (const event of job.events({ signal: stop.signal })) await view.show(event);
  } finally {
    interrupted.removeEventListener("abort", interrupt);
  }
  await view.close();
  if (stop.signal.aborted) return await note(context, `job ${job.id} goes on`);
  await tellEnd(context, await job.ended, isJson);
}

export async function tellEnd(context: Context, end: JobEnd, isJson: boolean): Promise<void> {
  const { err } = context;
  context.endWith(EXIT_OF[end.status]);
  if (isJson) {
    const { result, status, ...rest } = end;
    const error = rest.error && { code: rest.error.code, message: rest.error.message };
    const shown = result instanceof Uint8Array ? Buffer.from(result).toString("base64") : result;
    await context.out.line(cleanJson({ status, result: shown, error, summary: rest.summary }));
    return;
  }
  if (end.status === "success") return printResult(context, end.result);
  const { code = "", message = "" } = end.error ?? {};
  const why = [clean(code), clean(message)].filter(Boolean).join(": ");
  const how = { error: "failed", cancelled: "was cancelled", timed_out: "ran out of time" };
  const said = `the job ${how[end.status]}${why === "" ? "" : `: ${why}`}`;
  await err.line(`${err.paint("red", "error:")} ${said}`);
}

/** A pipe gets what the agent gave, byte by byte; a terminal only what is harmless. */
async function printResult({ out }: Context, result: unknown): Promise<void> {
  if (result === undefined || result === null) return;
  if (result instanceof Uint8Array) {
    if (out.isTerminal) return out.line(`(${result.length} bytes: send them to a file)`);
    await new Promise<void>((resolve) => process.stdout.write(result, () => resolve()));
  } else if (typeof result === "string") {
    const lines = out.isTerminal ? result.split("\n").map(clean).join("\n") : result;
    await out.write(lines.endsWith("\n") ? lines : `${lines}\n`);
  } else {
    await out.line(out.isTerminal ? cleanJson(result) : JSON.stringify(result));
  }
}
