/**
 * Events as they come from anywhere: an agent in this process, a child that speaks the Python
 * names, another runtime. Two ways in, one form out:
 *
 *   checkEvent   at emit: strict, bounded; says which field is wrong
 *   readEvent    at the client: takes what can be shown, and leaves out what cannot
 */
import { refuse, type Refusal } from "../decide.ts";
import type { ErrorCode } from "../errors.ts";
import {
  isVendorKind,
  JOB_LOG_LEVELS,
  type ArtifactRefBody,
  type DelegateBody,
  type JobStreamEvent,
  type LogBody,
  type JobLogLevel,
  type MetricBody,
  type ProgressBody,
  type StatusBody,
  type ToolError,
} from "./events.ts";
import { isRecord, type JsonRecord } from "../json-object.ts";
import { problemOfJson, Reader } from "./json.ts";
import { EVENT, RESULT } from "./limits.ts";
import { byteLength } from "./result-stream.ts";

const NAME = { max: EVENT.nameLength } as const;
const TEXT = { max: EVENT.textLength, mayBeEmpty: true } as const;
const URI = { max: EVENT.uriLength } as const;

export type CheckedEvent = { readonly ok: true; readonly event: JobStreamEvent } | Refusal;

/** Bodies are put together field by field: spreading costs forty times as much. */
type Draft<Body> = { -readonly [Field in keyof Body]: Body[Field] };

/** An event as an agent may emit it, with the names of the specification. */
export function checkEvent(kind: string, body: unknown): CheckedEvent {
  const refused = (problem: string, code: ErrorCode = "INVALID_ARGUMENT") => refuse(code, problem);
  if (!isRecord(body)) return refused("body is not an object");
  if (kind.length > EVENT.kindLength) return refused("kind is too long");
  const fields = new Reader(body, "body.");
  const event = read(kind, body, fields);
  if (!event) return refused("kind is neither one of the protocol nor x-vendor.…");
  if (kind === "progress") checkProgress(fields);
  return fields.problem === undefined ? { ok: true, event } : refused(fields.problem);
}

/** Why a body, once it is JSON text, is too large to be sent to anybody. */
export function checkBodySize(text: string): Refusal | undefined {
  // No unit of text takes more than three bytes: most need no counting.
  if (text.length * 3 <= EVENT.bodyBytes || byteLength(text) <= EVENT.bodyBytes) return undefined;
  return refuse("TOO_LARGE", `body has more than ${EVENT.bodyBytes} bytes`);
}

/** The specification only says SHOULD, but readers refuse it: an agent had better hear of it. */
function checkProgress(fields: Reader): void {
  const [current, total] = [fields.raw("current"), fields.raw("total")];
  if (typeof current === "number" && typeof total === "number" && current > total) {
    fields.fail("current", `is ${current}, more than the total of ${total}`);
  }
}

/** An event somebody sent; undefined where it says nothing that its kind could mean. */
export function readEvent(kind: unknown, body: unknown): JobStreamEvent | undefined {
  if (typeof kind !== "string" || !isRecord(body)) return undefined;
  const fields = new Reader(body, "body.");
  const event = read(kind, body, fields);
  return fields.problem === undefined ? event : undefined;
}

function read(kind: string, body: JsonRecord, fields: Reader): JobStreamEvent | undefined {
  switch (kind) {
    case "log": {
      const level = levelOf(fields.raw("level"));
      // A strict reader wants some text; an empty line is a blank.
      const message = fields.text("message", TEXT) || " ";
      const log: Draft<LogBody> = { level, message };
      const attributes = fields.optionalFreeObject("attributes", EVENT.depth);
      if (attributes) log.attributes = attributes;
      return { kind, body: log };
    }
    case "thought":
      return { kind, body: { text: fields.text("text", TEXT) } };
    case "tool_call":
      return toolCall(fields);
    case "tool_result":
      return toolResult(fields);
    case "status":
      return status(body, fields);
    case "metric":
      return metric(fields);
    case "artifact_ref":
      return artifactRef(fields);
    case "delegate":
      return delegate(fields);
    case "progress":
      return progress(fields);
    case "result_chunk":
      return resultChunk(fields);
    default:
      return isVendorKind(kind) ? { kind, body: freeBody(body, fields) } : undefined;
  }
}

function freeBody(body: JsonRecord, fields: Reader): JsonRecord {
  const problem = problemOfJson(body, EVENT.depth);
  if (problem !== undefined) fields.fail("*", problem);
  return body;
}

function levelOf(level: unknown): JobLogLevel {
  return JOB_LOG_LEVELS.find((known) => known === level) ?? "info";
}

function toolCall(fields: Reader): JobStreamEvent {
  const args = fields.free(fields.nameOf("args", "arguments"), EVENT.depth);
  const tool = fields.text(fields.nameOf("tool", "name"), NAME);
  const call_id = fields.text(fields.nameOf("call_id", "tool_call_id"), NAME);
  return {
    kind: "tool_call",
    body: args === undefined ? { tool, call_id } : { tool, args, call_id },
  };
}

function toolResult(fields: Reader): JobStreamEvent {
  const call_id = fields.text(fields.nameOf("call_id", "tool_call_id"), NAME);
  const named = fields.nameOf("result", "output");
  const result = fields.free(named, EVENT.depth);
  const failure = fields.raw("error");
  if (failure === undefined) {
    return { kind: "tool_result", body: result === undefined ? { call_id } : { call_id, result } };
  }
  if (result !== undefined) fields.fail(named, "and an error cannot both be");
  const error =
    typeof failure === "string"
      ? { code: "INTERNAL_ERROR", message: failure.slice(0, EVENT.textLength), retryable: true }
      : fields.inner("error", toolError);
  return { kind: "tool_result", body: { call_id, error } };
}

function toolError(fields: Reader): ToolError {
  const error: Draft<ToolError> = {
    code: fields.text("code", NAME),
    message: fields.text("message", TEXT) || " ",
    retryable: fields.optionalFlag("retryable") ?? false,
  };
  const details = fields.optionalFreeObject("details", EVENT.depth);
  if (details) error.details = details;
  return error;
}

function status(body: JsonRecord, fields: Reader): JobStreamEvent {
  const phase = fields.text("phase", NAME);
  const message = fields.optionalText("message", TEXT);
  const free = freeBody(body, fields);
  if (free["message"] === message) return { kind: "status", body: free as StatusBody };
  const { message: _, ...others } = free;
  return { kind: "status", body: { ...others, phase } };
}

function metric(fields: Reader): JobStreamEvent {
  const body: Draft<MetricBody> = {
    name: fields.text("name", NAME),
    value: fields.number("value", { min: -Infinity }),
  };
  const unit = fields.optionalText("unit", NAME);
  const given = fields.optionalObject(fields.nameOf("dimensions", "dims", "attributes"));
  if (unit !== undefined) body.unit = unit;
  if (given) body.dimensions = dimensionsOf(given, fields);
  return { kind: "metric", body };
}

/** Labels are text; other plain values are written as text. */
function dimensionsOf(given: JsonRecord, fields: Reader): Readonly<Record<string, string>> {
  const entries = Object.entries(given).flatMap(([label, value]) => {
    if (typeof value === "string") return [[label, value] as const];
    const isPlain = typeof value === "number" || typeof value === "boolean";
    return isPlain ? [[label, String(value)] as const] : [];
  });
  const isTooLong = ([label, value]: readonly [string, string]) =>
    label.length > NAME.max || value.length > NAME.max || label === "__proto__";
  if (entries.length > EVENT.dimensions) fields.fail("dimensions", "has too many entries");
  if (entries.some(isTooLong)) fields.fail("dimensions", "has an entry that is too long");
  return Object.fromEntries(entries);
}

function artifactRef(fields: Reader): JobStreamEvent {
  const contentType = fields.optionalText(fields.nameOf("content_type", "media_type"), NAME);
  const body: Draft<ArtifactRefBody> = {
    uri: fields.text(fields.nameOf("uri", "artifact_id"), URI),
    content_type: contentType ?? "application/octet-stream",
  };
  const byteSize = fields.optionalWhole(fields.nameOf("byte_size", "size_bytes"), { min: 0 });
  const sha256 = fields.optionalText("sha256", NAME);
  if (byteSize !== undefined) body.byte_size = byteSize;
  if (sha256 !== undefined) body.sha256 = sha256;
  return { kind: "artifact_ref", body };
}

function delegate(fields: Reader): JobStreamEvent {
  const body: Draft<DelegateBody> = { agent: fields.text("agent", NAME) };
  const input = fields.free("input", EVENT.depth);
  const id = fields.optionalText("delegate_id", NAME);
  const child = fields.optionalText("child_job_id", NAME);
  const lease = fields.optionalFreeObject("lease_request", EVENT.depth);
  const constraints = fields.optionalFreeObject("lease_constraints", EVENT.depth);
  if (id !== undefined) body.delegate_id = id;
  if (input !== undefined) body.input = input;
  if (lease) body.lease_request = lease as DelegateBody["lease_request"] & object;
  if (constraints) body.lease_constraints = constraints;
  if (child !== undefined) body.child_job_id = child;
  return { kind: "delegate", body };
}

function progress(fields: Reader): JobStreamEvent {
  const body: Draft<ProgressBody> = { current: fields.number("current", { min: 0 }) };
  const total = fields.optionalNumber("total", { min: 0 });
  const units = fields.optionalText("units", NAME);
  const message = fields.optionalText("message", TEXT);
  if (total !== undefined) body.total = total;
  if (units !== undefined) body.units = units;
  if (message !== undefined) body.message = message;
  return { kind: "progress", body };
}

function resultChunk(fields: Reader): JobStreamEvent {
  const encoding = fields.raw("encoding") ?? "utf8";
  if (encoding !== "utf8" && encoding !== "base64") fields.fail("encoding", "is not known");
  return {
    kind: "result_chunk",
    body: {
      result_id: fields.text("result_id", { max: RESULT.idLength }),
      chunk_seq: fields.whole("chunk_seq", { min: 0 }),
      data: fields.text("data", { max: RESULT.receivedChunkBytes, mayBeEmpty: true }),
      encoding: encoding === "base64" ? "base64" : "utf8",
      more: fields.optionalFlag("more") ?? false,
    },
  };
}
