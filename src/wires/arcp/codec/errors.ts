/**
 * The fifteen codes of ARCP and whether a call that got one may be sent again, and how they stand
 * for the codes of ours. The TypeScript client drops a frame that says otherwise, so what goes out
 * is decided here and nowhere else.
 */
import { codeOf, RollcallError, type ErrorCode } from "../../../core/errors.ts";

const RETRYABLE = {
  UNAUTHENTICATED: false,
  INVALID_REQUEST: false,
  AGENT_NOT_AVAILABLE: false,
  AGENT_VERSION_NOT_AVAILABLE: false,
  DUPLICATE_KEY: false,
  JOB_NOT_FOUND: false,
  PERMISSION_DENIED: false,
  LEASE_SUBSET_VIOLATION: false,
  LEASE_EXPIRED: false,
  BUDGET_EXHAUSTED: false,
  CANCELLED: false,
  TIMEOUT: true,
  HEARTBEAT_LOST: false,
  RESUME_WINDOW_EXPIRED: false,
  INTERNAL_ERROR: true,
} as const;

export type ArcpCode = keyof typeof RETRYABLE;

/** The error in `session.error`, in `job.error`, and in a failed `tool_result`. */
export interface ArcpError {
  readonly code: ArcpCode;
  readonly message: string;
  readonly retryable: boolean;
  readonly details?: Readonly<Record<string, unknown>>;
}

/** Which code of ARCP says what one of ours says. */
const TO_ARCP: Readonly<Record<ErrorCode, ArcpCode>> = {
  INVALID_ARGUMENT: "INVALID_REQUEST",
  NOT_FOUND: "JOB_NOT_FOUND",
  ALREADY_EXISTS: "DUPLICATE_KEY",
  NOT_HOLDER: "PERMISSION_DENIED",
  PERMISSION_DENIED: "PERMISSION_DENIED",
  UNAUTHENTICATED: "UNAUTHENTICATED",
  WRONG_STATE: "INVALID_REQUEST",
  LIMIT_EXCEEDED: "INTERNAL_ERROR",
  TOO_LARGE: "INVALID_REQUEST",
  SLOW_CONSUMER: "INTERNAL_ERROR",
  OUT_OF_RANGE: "RESUME_WINDOW_EXPIRED",
  CANCELLED: "CANCELLED",
  DEADLINE_EXCEEDED: "TIMEOUT",
  UNAVAILABLE: "INTERNAL_ERROR",
  FENCED: "INTERNAL_ERROR",
  OUTCOME_UNKNOWN: "INTERNAL_ERROR",
  DIVERGED: "INTERNAL_ERROR",
  LOCKED: "INTERNAL_ERROR",
  STORAGE_FULL: "INTERNAL_ERROR",
  STORAGE_READ_ONLY: "INTERNAL_ERROR",
  STORAGE_CORRUPT: "INTERNAL_ERROR",
  STORAGE_TOO_NEW: "INTERNAL_ERROR",
  AGENT_NOT_AVAILABLE: "AGENT_NOT_AVAILABLE",
  AGENT_VERSION_NOT_AVAILABLE: "AGENT_VERSION_NOT_AVAILABLE",
  LEASE_SUBSET_VIOLATION: "LEASE_SUBSET_VIOLATION",
  LEASE_EXPIRED: "LEASE_EXPIRED",
  BUDGET_EXHAUSTED: "BUDGET_EXHAUSTED",
  HEARTBEAT_LOST: "HEARTBEAT_LOST",
  INCOMPATIBLE: "INTERNAL_ERROR",
  UNIMPLEMENTED: "INVALID_REQUEST",
  INTERNAL: "INTERNAL_ERROR",
};

/** And back, for what a client is told. */
const FROM_ARCP: Readonly<Record<ArcpCode, ErrorCode>> = {
  UNAUTHENTICATED: "UNAUTHENTICATED",
  INVALID_REQUEST: "INVALID_ARGUMENT",
  AGENT_NOT_AVAILABLE: "AGENT_NOT_AVAILABLE",
  AGENT_VERSION_NOT_AVAILABLE: "AGENT_VERSION_NOT_AVAILABLE",
  DUPLICATE_KEY: "ALREADY_EXISTS",
  JOB_NOT_FOUND: "NOT_FOUND",
  PERMISSION_DENIED: "PERMISSION_DENIED",
  LEASE_SUBSET_VIOLATION: "LEASE_SUBSET_VIOLATION",
  LEASE_EXPIRED: "LEASE_EXPIRED",
  BUDGET_EXHAUSTED: "BUDGET_EXHAUSTED",
  CANCELLED: "CANCELLED",
  TIMEOUT: "DEADLINE_EXCEEDED",
  HEARTBEAT_LOST: "HEARTBEAT_LOST",
  RESUME_WINDOW_EXPIRED: "OUT_OF_RANGE",
  INTERNAL_ERROR: "INTERNAL",
};

const MESSAGE_LENGTH = 1024;

export function isArcpCode(text: string): text is ArcpCode {
  return Object.hasOwn(RETRYABLE, text);
}

export function isRetryable(code: ArcpCode): boolean {
  return RETRYABLE[code];
}

export function arcpCodeOf(code: ErrorCode): ArcpCode {
  return TO_ARCP[code];
}

/** The code a client throws for one on the wire; an unknown one is a fault of the runtime. */
export function errorCodeOf(code: string): ErrorCode {
  return isArcpCode(code) ? FROM_ARCP[code] : "INTERNAL";
}

/** An error as it goes out: never empty, never long, retryable as the table says. */
export function arcpError(
  code: ArcpCode,
  message: string,
  details?: Readonly<Record<string, unknown>>,
): ArcpError {
  const said = message.slice(0, MESSAGE_LENGTH);
  const text = said === "" ? code.toLowerCase().replaceAll("_", " ") : said;
  const error = { code, message: text, retryable: RETRYABLE[code] };
  return details ? { ...error, details } : error;
}

/**
 * Anything thrown as it may be told. A fault that is not ours is told by name only: its text may
 * hold what is nobody's business. Pass `tellAll` for faults of an agent, whose text is the answer.
 */
export function arcpErrorOf(error: unknown, tellAll = false): ArcpError {
  const told = error instanceof RollcallError || (tellAll && error instanceof Error);
  return arcpError(TO_ARCP[codeOf(error)], told ? error.message : "");
}
