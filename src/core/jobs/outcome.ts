/**
 * The states of a job, and how it ended.
 *
 *   pending ──▶ running ──▶ success | error | cancelled | timed_out
 *      └──────────────────────────▶ error | cancelled | timed_out
 */
import type { ErrorCode } from "../errors.ts";

const STATUSES = {
  pending: false,
  running: false,
  success: true,
  error: true,
  cancelled: true,
  timed_out: true,
} as const;

export type JobStatus = keyof typeof STATUSES;

export const JOB_STATUSES = Object.keys(STATUSES) as readonly JobStatus[];

export function isJobStatus(text: string): text is JobStatus {
  return Object.hasOwn(STATUSES, text);
}

export function isTerminal(status: JobStatus): boolean {
  return STATUSES[status];
}

/** Inline, streamed before, or nothing. A value too large for a frame is streamed as JSON. */
export type JobResult =
  | { readonly form: "none" }
  | { readonly form: "inline"; readonly value: unknown }
  | {
      readonly form: "streamed";
      readonly resultId: string;
      readonly size: number;
      readonly isJson?: boolean;
    };

export type Outcome =
  | { readonly status: "success"; readonly result: JobResult; readonly summary?: string }
  | {
      readonly status: "error";
      readonly code: ErrorCode;
      readonly message: string;
      readonly details?: Readonly<Record<string, unknown>>;
    }
  | { readonly status: "cancelled"; readonly reason: string }
  | { readonly status: "timed_out"; readonly message: string };
