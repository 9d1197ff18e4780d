/** How a job ended, as the SDK's own `arcp` prints it: a result is JSON, a failure is an error. */
import type { JobEnd } from "../../wires/arcp/client/types.ts";
import { clean } from "../terminal/clean.ts";
import type { Context } from "../context.ts";

/** The fields of a result in the order in which they are printed; others follow. */
const ORDER = ["final_status", "result", "result_id", "result_size", "summary", "completed_at"];

/** A job that was cancelled or timed out has a result that says so, in whichever form it came. */
export function resultPayload(end: JobEnd): Readonly<Record<string, unknown>> {
  const { status, payload, completedAt, error } = end;
  if (error) return { final_status: status, completed_at: completedAt };
  const names = [...ORDER, ...Object.keys(payload).filter((name) => !ORDER.includes(name))];
  const fields = names.map((name) => [name, payload[name]] as const);
  return Object.fromEntries(fields.filter(([, value]) => (value ?? undefined) !== undefined));
}

/** The job ran and failed: what a shell calls a failure, and one line that says why. */
export async function tellFailure(context: Context, { error }: JobEnd): Promise<void> {
  const { err } = context;
  const { code = "INTERNAL_ERROR", message = "" } = error ?? {};
  const said = message === "" ? code : `${code}: ${message}`;
  await err.line(`${err.paint("red", "error:")} the job failed: ${clean(said)}`);
  context.endWith(1);
}
