/**
 * How a job's end is told, and how a submit is refused: where the three vocabularies differ most.
 *
 *   outcome     spec, ts                            py
 *   success     job.result                          job.result
 *   failed      job.error  error                    job.error  error
 *   cancelled   job.error  cancelled                job.result cancelled
 *   timed out   job.error  timed_out                job.result timed_out
 *   refused     spec: session.error, ts: job.error  session.error
 *
 * A job error that names no known job is taken by the TypeScript client as the answer to its
 * oldest submit, so a refusal there carries a job id nobody ever had.
 */
import type { JobResult, Outcome } from "../../../core/jobs/outcome.ts";
import { frameText, sessionErrorPayload, type RequestRef, type Head } from "./encode.ts";
import { arcpCodeOf, arcpError, type ArcpError } from "./errors.ts";
import type { Profile } from "./profile.ts";

export interface EndingFrame {
  readonly type: "job.result" | "job.error";
  readonly payload: string;
}

export function endingOf(profile: Profile, outcome: Outcome, completedAt: string): EndingFrame {
  switch (outcome.status) {
    case "success": {
      const { result, summary } = outcome;
      return { type: "job.result", payload: successPayload(result, summary, completedAt) };
    }
    case "error": {
      const error = arcpError(arcpCodeOf(outcome.code), outcome.message, outcome.details);
      return failed("error", error, completedAt);
    }
    case "cancelled":
      if (profile === "py") return ended("cancelled", completedAt);
      return failed("cancelled", arcpError("CANCELLED", outcome.reason), completedAt);
    case "timed_out":
      if (profile === "py") return ended("timed_out", completedAt);
      return failed("timed_out", arcpError("TIMEOUT", outcome.message), completedAt);
  }
}

function successPayload(
  result: JobResult,
  summary: string | undefined,
  completedAt: string,
): string {
  const said = summary === undefined ? "" : `,"summary":${JSON.stringify(summary)}`;
  return `{"final_status":"success"${resultText(result)}${said},"completed_at":"${completedAt}"}`;
}

function resultText(result: JobResult): string {
  switch (result.form) {
    case "none":
      return "";
    case "inline":
      // A value that JSON has no form for (a function, undefined) is no result.
      return jsonField("result", result.value);
    case "streamed": {
      const told = `${jsonField("result_id", result.resultId)},"result_size":${result.size}`;
      // No word of the protocol's, and no client minds: ours gives the value, and not its text.
      return result.isJson ? `${told},"result_content_type":"application/json"` : told;
    }
  }
}

function jsonField(name: string, value: unknown): string {
  const text = JSON.stringify(value) as string | undefined;
  return text === undefined ? "" : `,"${name}":${text}`;
}

function ended(status: "cancelled" | "timed_out", completedAt: string): EndingFrame {
  const payload = `{"final_status":"${status}","completed_at":"${completedAt}"}`;
  return { type: "job.result", payload };
}

function failed(
  status: "error" | "cancelled" | "timed_out",
  { code, message, retryable, details }: ArcpError,
  completedAt: string,
): EndingFrame {
  const payload =
    `{"final_status":"${status}","code":"${code}","message":${JSON.stringify(message)}` +
    `,"retryable":${retryable}${jsonField("details", details)},"completed_at":"${completedAt}"}`;
  return { type: "job.error", payload };
}

export interface SubmitRefusal extends RequestRef {
  readonly profile: Profile;
  /** A `traceId` here is what the TypeScript client finds its submit by. */
  readonly head: Head;
  /** Never used for a job; only told where a job id must be. */
  readonly freshJobId: string;
  readonly error: ArcpError;
  readonly at: string;
}

/** The frame that refuses a submit. Whether it takes a number of the session is in `head`. */
export function refusedSubmit({
  profile,
  head,
  freshJobId,
  error,
  at,
  ...answered
}: SubmitRefusal) {
  if (profile !== "ts")
    return frameText("session.error", head, sessionErrorPayload(error, answered));
  return frameText("job.error", { ...head, jobId: freshJobId }, failed("error", error, at).payload);
}
