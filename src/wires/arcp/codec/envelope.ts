/**
 * From one frame of text to what surrounds every message: checked, and bounded, before anything
 * looks inside. What is wrong is a refusal that names the field and, where they can be known, the
 * request it answers.
 *
 * Strict about size, nesting and types; tolerant where peers differ: unknown fields are ignored,
 * null is absent, the version and the payload may be missing, and `trace_id` may hold a whole
 * traceparent.
 */
import { parseJson } from "../../../core/text.ts";
import { asLine } from "../../../core/fields.ts";
import { isRecord, type JsonRecord } from "../../../core/json-object.ts";
import { Reader } from "../../../core/jobs/json.ts";
import { FRAME_LIMITS } from "./limits.ts";
import type { Envelope } from "./messages.ts";

export interface FrameRefusal {
  readonly ok: false;
  readonly code: "INVALID_REQUEST";
  /** Short, and nothing of the frame but the names of its fields and its type. */
  readonly message: string;
  /** The id and type of the refused frame, where they could be read. */
  readonly requestId: string | undefined;
  readonly requestType: string | undefined;
  readonly traceId: string | undefined;
}

export type DecodeResult<Message> = { readonly ok: true; readonly message: Message } | FrameRefusal;

export interface OpenedFrame {
  readonly type: string;
  readonly envelope: Envelope;
  readonly eventSeq: number | undefined;
  readonly payload: JsonRecord;
  /** Reads the payload; what is wrong there refuses the frame. */
  readonly fields: Reader;
}

const TRACE_ID = /^[0-9a-f]{32}$/;
const TRACEPARENT = /^[0-9a-f]{2}-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}$/;
const NO_TRACE = "0".repeat(32);
// oxlint-disable-next-line no-control-regex -- finding them is the point
const CONTROL = /[\u0000-\u001f\u007f-\u009f]/;

export function decodeFrame<Message>(
  text: string,
  read: (frame: OpenedFrame) => Message,
): DecodeResult<Message> {
  if (text.length > FRAME_LIMITS.inboundBytes) {
    return refusedFrame(`a frame has at most ${FRAME_LIMITS.inboundBytes} bytes`, {});
  }
  const object = parseJson(text);
  if (!isRecord(object)) return refusedFrame("a frame is one JSON object", {});
  const head = new Reader(object, "");
  const type = head.text("type", { max: FRAME_LIMITS.typeLength });
  const envelope = envelopeOf(head);
  const eventSeq = head.optionalWhole("event_seq", { min: 0 });
  const payload = head.optionalObject("payload") ?? {};
  const fields = new Reader(payload, "payload.");
  const message = read({ type, envelope, eventSeq, payload, fields });
  const problem = head.problem ?? fields.problem;
  return problem === undefined ? { ok: true, message } : refusedFrame(problem, object);
}

/** An envelope and what its message says, in one object. Spreading it costs forty times as much. */
export function messageOf<Fields extends object>(
  envelope: Envelope,
  fields: Fields,
): Envelope & Fields {
  return Object.assign(envelope, fields);
}

function envelopeOf(head: Reader): Envelope {
  const version = head.raw("arcp");
  if (version !== undefined && version !== "1.1") head.fail("arcp", 'is not "1.1"');
  const id = head.text("id", { max: FRAME_LIMITS.idLength });
  if (CONTROL.test(id)) head.fail("id", "holds a control character");
  return {
    id,
    sessionId: head.optionalText("session_id", { max: FRAME_LIMITS.idLength }),
    jobId: head.optionalText("job_id", { max: FRAME_LIMITS.idLength }),
    traceId: traceIdOf(head),
    extensions: head.optionalFreeObject("extensions", FRAME_LIMITS.depth),
  };
}

function traceIdOf(head: Reader): string | undefined {
  const value = head.raw("trace_id");
  if (value === undefined) return undefined;
  const traceId = typeof value === "string" ? plainTraceId(value) : undefined;
  if (traceId === undefined) head.fail("trace_id", "is not 32 lower-case hex digits");
  else if (traceId === NO_TRACE) head.fail("trace_id", "is all zeros");
  return traceId;
}

/** The trace id in either form; undefined for anything else. */
function plainTraceId(text: string): string | undefined {
  return TRACE_ID.test(text) ? text : TRACEPARENT.exec(text)?.[1];
}

function refusedFrame(message: string, object: JsonRecord): FrameRefusal {
  const { id, type, trace_id: trace } = object;
  const traceId = typeof trace === "string" ? plainTraceId(trace) : undefined;
  return {
    ok: false,
    code: "INVALID_REQUEST",
    message,
    requestId: isEchoable(id, FRAME_LIMITS.idLength) ? id : undefined,
    requestType: isEchoable(type, FRAME_LIMITS.typeLength) ? type : undefined,
    traceId: traceId === NO_TRACE ? undefined : traceId,
  };
}

function isEchoable(value: unknown, max: number): value is string {
  return typeof value === "string" && value !== "" && value.length <= max && !CONTROL.test(value);
}

/** A type nobody knows, as it may be told. */
export function unknownType(type: string): string {
  return `names no message: ${JSON.stringify(asLine(type, 64))}`;
}
