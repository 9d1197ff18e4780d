/**
 * A job that is handed on to another runtime: what it says there it says here, its end there is its
 * end here, and who cancels it here cancels it there. Lease and budget are checked by both: costs
 * that are told pass through, so the budget here is the one that counts.
 */
import type { ArcpClient } from "../../client/arcp/client.ts";
import { toldError } from "../../client/arcp/job.ts";
import type { JobEnd, ReceivedEvent } from "../../client/arcp/types.ts";
import { RollcallError } from "../../core/errors.ts";
import type { JobContext } from "../../jobs/context.ts";

export interface HandedOn {
  /** What the agent is called there. */
  readonly agent: string;
  readonly input: unknown;
  readonly context: JobContext;
}

export async function handOn(client: ArcpClient, handed: HandedOn): Promise<unknown> {
  const { agent, input, context } = handed;
  const { signal, traceId } = context;
  const job = await client.submit({ agent, input, lease: context.lease, traceId, signal });
  const cancel = () => void job.cancel("cancelled").catch(() => undefined);
  signal.addEventListener("abort", cancel, { once: true });
  if (signal.aborted) cancel();
  try {
    for await (const event of job.events()) {
      if (isOurs(event)) continue;
      await context.emit(event.kind, event.body as Parameters<JobContext["emit"]>[1]);
    }
    return resultOf(await job.ended);
  } catch (error) {
    // A job that goes on there while it is over here would work for nobody.
    cancel();
    throw error;
  } finally {
    signal.removeEventListener("abort", cancel);
  }
}

/** What a runtime says of its own: the one here says it, too. */
function isOurs({ kind, body }: ReceivedEvent): boolean {
  if (kind === "metric") return "name" in body && body.name === "cost.budget.remaining";
  if (kind !== "status") return false;
  const phase = "phase" in body ? body.phase : "";
  return phase === "running" || phase === "back_pressure" || phase === "credential_rotated";
}

function resultOf(end: JobEnd): unknown {
  switch (end.status) {
    case "success":
      // In parts: they were passed on as they came.
      return end.resultId === undefined ? end.result : undefined;
    case "cancelled":
      throw new RollcallError("CANCELLED", "the agent's own runtime cancelled the job", {
        cause: end.error ?? end.status,
      });
    case "timed_out":
      throw new RollcallError("DEADLINE_EXCEEDED", end.error?.message ?? "it ran out of time");
    case "error": {
      const { code = "INTERNAL_ERROR", message = "", details } = end.error ?? {};
      throw toldError({ code, message, details });
    }
  }
}
