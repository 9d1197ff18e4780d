/**
 * Frames as programs before schema 2 kept them: the text that was sent, in a stream of the session
 * that it was sent to. The position there is the number of the frame. All of them were put together
 * by one encoder, the payload last, so bodies can be cut out and keep their bytes.
 */
import type { JobStreamEntry } from "../../../core/job-stream.ts";
import type { JobResult, Outcome } from "../../../core/jobs/outcome.ts";
import { RollcallError } from "../../../core/errors.ts";
import type { Streams } from "../../../log/streams.ts";
import { errorCodeOf } from "../codec/errors.ts";

export const FRAME_STREAMS = "arcp/session/";

export interface LedgerFrame {
  readonly jobId: string;
  readonly entry: Omit<JobStreamEntry, "seq">;
}

const PAYLOAD = ',"payload":';
const BODY = ',"body":';

export function readLedgerFrame(frame: string): LedgerFrame {
  const { fields, last: payload } = cut(frame, PAYLOAD);
  const { type, job_id: jobId = "" } = fields;
  return { jobId, entry: type === "job.event" ? eventOf(payload) : endOf(payload) };
}

function eventOf(payload: string): LedgerFrame["entry"] {
  const { fields, last: body } = cut(payload, BODY);
  const { kind = "", ts = "" } = fields;
  return { atMs: Date.parse(ts), kind, body };
}

interface Cut {
  readonly fields: {
    readonly type?: string;
    readonly job_id?: string;
    readonly kind?: string;
    readonly ts?: string;
  };
  readonly last: string;
}

/** The fields before the last one, and the text of the last one. */
function cut(text: string, at: string): Cut {
  const end = text.indexOf(at);
  if (end === -1) {
    const beginning = JSON.stringify(text.slice(0, 100));
    throw new RollcallError("STORAGE_CORRUPT", `${beginning}… is no frame of a job`);
  }
  const fields = JSON.parse(`${text.slice(0, end)}}`) as Cut["fields"];
  return { fields, last: text.slice(end + at.length, -1) };
}

interface EndPayload {
  readonly final_status: Outcome["status"];
  readonly completed_at: string;
  readonly result?: unknown;
  readonly result_id?: string;
  readonly result_size?: number;
  readonly result_content_type?: string;
  readonly summary?: string;
  readonly code?: string;
  readonly message?: string;
  readonly details?: Readonly<Record<string, unknown>>;
}

function endOf(text: string): LedgerFrame["entry"] {
  const payload = JSON.parse(text) as EndPayload;
  const body = JSON.stringify(outcomeOf(payload));
  return { atMs: Date.parse(payload.completed_at), kind: "end", body };
}

function outcomeOf(payload: EndPayload): Outcome {
  const { final_status: status, summary, code = "", message = "", details } = payload;
  switch (status) {
    case "success":
      return { status, result: resultOf(payload), ...(summary !== undefined && { summary }) };
    case "error":
      return { status, code: errorCodeOf(code), message, ...(details && { details }) };
    case "cancelled":
      return { status, reason: message };
    case "timed_out":
      return { status, message };
  }
}

function resultOf(payload: EndPayload): JobResult {
  const { result, result_id: resultId, result_size: size = 0 } = payload;
  if (resultId !== undefined) {
    const isJson = payload.result_content_type === "application/json";
    return { form: "streamed", resultId, size, isJson };
  }
  return result === undefined ? { form: "none" } : { form: "inline", value: result };
}

/** A notice that the client of the session fell behind: no part of what the job said. */
export function isLagNotice({ kind, body }: LedgerFrame["entry"]): boolean {
  if (kind !== "status" || !body.includes('"back_pressure"')) return false;
  return (JSON.parse(body) as { phase?: unknown }).phase === "back_pressure";
}

/** Whether a session is of a program before schema 2, and not converted yet. */
export async function hasFrames(streams: Streams, sessionId: string): Promise<boolean> {
  return (await streams.range(FRAME_STREAMS + sessionId)).head > 0;
}

/** The frames of a session after a number, as they were sent. */
export async function* framesAfter(
  streams: Streams,
  sessionId: string,
  after: number,
): AsyncGenerator<{ readonly seq: number; readonly frame: string }> {
  const stream = FRAME_STREAMS + sessionId;
  const { oldest } = await streams.range(stream);
  for await (const { first, entries } of streams.read(stream, Math.max(after, oldest - 1))) {
    for (const [index, frame] of entries.entries()) yield { seq: first + index, frame };
  }
}
