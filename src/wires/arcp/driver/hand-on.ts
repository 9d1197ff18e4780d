/**
 * A job that is handed on to another runtime: what it says there it says here, its end there is its
 * end here, and who cancels it here cancels it there. Lease and budget are checked by both: costs
 * that are told pass through, so the budget here is the one that counts.
 */
import type { ArcpClient } from "../client/client.ts";
import { toldError } from "../client/job.ts";
import type { JobEnd, ReceivedEvent } from "../client/types.ts";
import type { ResultChunkBody } from "../../../core/jobs/events.ts";
import { RollcallError } from "../../../core/errors.ts";
import type { JobContext } from "../../../jobs/context.ts";
import type { ResultWriter } from "../../../jobs/result-writer.ts";

export interface ChildJobRequest {
  /** The agent's name there. */
  readonly agent: string;
  readonly input: unknown;
  readonly context: JobContext;
}

export async function handOn(client: ArcpClient, handed: ChildJobRequest): Promise<unknown> {
  const { agent, input, context } = handed;
  const { signal, traceId } = context;
  const job = await client.submit({ agent, input, lease: context.lease, traceId, signal });
  const cancel = () => void job.cancel("cancelled").catch(() => undefined);
  signal.addEventListener("abort", cancel, { once: true });
  if (signal.aborted) cancel();
  try {
    let result: ResultWriter | undefined;
    for await (const event of job.events()) {
      if (isChunk(event)) {
        result ??= context.streamResult();
        await result.write(dataOf(event.body));
      } else if (!isOurs(event)) {
        await context.emit(event.kind, event.body as Parameters<JobContext["emit"]>[1]);
      }
    }
    const end = await job.ended;
    const value = resultOf(end);
    if (end.resultId === undefined) return value;
    result ??= context.streamResult();
    result.isJson = end.payload["result_content_type"] === "application/json";
    await result.end(end.summary);
    return undefined;
  } catch (error) {
    // A job that goes on there while it is over here would work for nobody.
    cancel();
    throw error;
  } finally {
    signal.removeEventListener("abort", cancel);
  }
}

function isChunk(event: ReceivedEvent): event is ReceivedEvent & { kind: "result_chunk" } {
  return event.kind === "result_chunk";
}

function dataOf({ data, encoding }: ResultChunkBody): string | Uint8Array {
  return encoding === "utf8" ? data : Buffer.from(data, "base64");
}

/** Events that every runtime emits itself: ours does, too. */
function isOurs({ kind, body }: ReceivedEvent): boolean {
  if (kind === "metric") return "name" in body && body.name === "cost.budget.remaining";
  if (kind !== "status") return false;
  const phase = "phase" in body ? body.phase : "";
  return phase === "running" || phase === "back_pressure" || phase === "credential_rotated";
}

function resultOf(end: JobEnd): unknown {
  switch (end.status) {
    case "success":
      return end.result;
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
