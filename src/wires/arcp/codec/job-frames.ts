/**
 * Entries of a job's stream as frames of a session. A frame is made when it is sent, from the entry
 * and its number alone: a client that resumes gets the very same bytes, the id included.
 */
import { isErrorCode } from "../../../core/errors.ts";
import type { JobStreamEntry } from "../../../core/job-stream.ts";
import type { ToolError, ToolResultBody } from "../../../core/jobs/events.ts";
import type { Outcome } from "../../../core/jobs/outcome.ts";
import type { Job } from "../../../core/jobs.ts";
import { memberId } from "../../../core/ulid.ts";
import { frameText } from "./encode.ts";
import { endingOf } from "./endings.ts";
import { arcpCodeOf, isArcpCode, isRetryable } from "./errors.ts";
import type { Profile } from "./profile.ts";

export interface JobFrame {
  readonly sessionId: string;
  readonly profile: Profile;
  readonly seq: number;
  readonly job: Pick<Job, "id" | "traceId" | "session">;
  readonly entry: Omit<JobStreamEntry, "seq">;
  /** Of an end, where it is at hand: else it is read from the entry. */
  readonly outcome?: Outcome | undefined;
  readonly time: (atMs: number) => string;
  /** The value of a credential of a job that runs. */
  readonly secretOf?: (jobId: string, credentialId: string) => string | undefined;
}

export function jobFrame(frame: JobFrame): string {
  const { sessionId, seq, job, entry } = frame;
  const { type, payload } = entry.kind === "end" ? endOf(frame) : eventOf(frame);
  const { id: jobId, traceId } = job;
  const id = frameId(sessionId, seq);
  return frameText(type, { id, sessionId, jobId, traceId, eventSeq: seq }, payload);
}

function endOf(frame: JobFrame): { type: string; payload: string } {
  const { profile, entry, outcome = JSON.parse(entry.body) as Outcome, time } = frame;
  return endingOf(profile, outcome, time(entry.atMs));
}

function eventOf(frame: JobFrame): { type: string; payload: string } {
  const { entry, time } = frame;
  const { kind, atMs } = entry;
  const body = bodyOf(frame);
  return { type: "job.event", payload: `{"kind":"${kind}","ts":"${time(atMs)}","body":${body}}` };
}

/** The same for the same frame, and for no other. */
function frameId(sessionId: string, seq: number): string {
  return `msg_${memberId(sessionId.slice(SESSION_PREFIX.length), seq)}`;
}

const SESSION_PREFIX = "sess_";

/** As the wire has it. Most bodies are sent as they were written. */
function bodyOf(frame: JobFrame): string {
  const { kind, body } = frame.entry;
  if (kind === "tool_result" && body.includes('"error"')) return withArcpCode(body);
  if (kind === "status" && body.includes('"credential_rotated"')) return rotatedBody(frame);
  return body;
}

/**
 * The value of a rotated credential is for the session that submitted the job, and no other. It
 * stands in no stream (but in those of before): it is known while the job runs.
 */
function rotatedBody({ sessionId, job, entry, secretOf }: JobFrame): string {
  const { value, ...told } = JSON.parse(entry.body) as Readonly<Record<string, unknown>>;
  if (told["phase"] !== "credential_rotated") return entry.body;
  if (job.session !== sessionId) return JSON.stringify(told);
  return JSON.stringify({ ...told, value: value ?? secretOf?.(job.id, String(told["id"])) });
}

/** Errors of tools carry a code of the protocol's table; an agent's own goes along as a detail. */
function withArcpCode(body: string): string {
  const told = JSON.parse(body) as ToolResultBody;
  return told.error ? JSON.stringify({ ...told, error: toolError(told.error) }) : body;
}

function toolError(error: ToolError): ToolError {
  const { code } = error;
  if (isArcpCode(code)) return { ...error, retryable: isRetryable(code) };
  const told = isErrorCode(code) ? arcpCodeOf(code) : "INTERNAL_ERROR";
  const details = { ...error.details, code };
  return { ...error, code: told, retryable: isRetryable(told), details };
}
