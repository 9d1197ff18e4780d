/**
 * The only error family. A failure has one code; each wire looks its own number up in this table,
 * so a new code is one new line here and nowhere else.
 */
const CODES = {
  INVALID_ARGUMENT: row(3, 400, "never"),
  NOT_FOUND: row(5, 404, "never"),
  ALREADY_EXISTS: row(6, 409, "never"),
  /** Another agent holds it, or the token is not the current one. */
  NOT_HOLDER: row(7, 403, "never"),
  /** Policy, door or principal says no. */
  PERMISSION_DENIED: row(7, 403, "never"),
  UNAUTHENTICATED: row(16, 401, "never"),
  WRONG_STATE: row(9, 409, "never"),
  /** A limit of limits.ts was reached; the message names it. */
  LIMIT_EXCEEDED: row(8, 429, "later"),
  TOO_LARGE: row(8, 413, "never"),
  /** A watcher fell too far behind and was cut; it may resume from the last sequence it saw. */
  SLOW_CONSUMER: row(8, 429, "now"),
  /** The log no longer reaches back to the sequence asked for. */
  OUT_OF_RANGE: row(11, 410, "never"),
  CANCELLED: row(1, 499, "never"),
  DEADLINE_EXCEEDED: row(4, 504, "later"),
  /** Nothing was acknowledged; whether it was recorded is not known. */
  UNAVAILABLE: row(14, 503, "later"),
  /** Another node has written to the log: this one no longer leads. */
  FENCED: row(14, 503, "later"),
  /** An append may have been written, now or later: the store did not answer in time. */
  OUTCOME_UNKNOWN: row(14, 503, "later"),
  /** The log is not the one that was read before: acknowledged entries are gone from it. */
  DIVERGED: row(15, 500, "never"),
  /** The store is in use by another process; the message names it. */
  LOCKED: row(14, 503, "later"),
  STORAGE_FULL: row(14, 503, "later"),
  STORAGE_READ_ONLY: row(14, 503, "never"),
  STORAGE_CORRUPT: row(15, 500, "never"),
  /** Written by a newer version of this program. */
  STORAGE_TOO_NEW: row(9, 500, "never"),
  /** No agent of that name may be had; or not in that version. */
  AGENT_NOT_AVAILABLE: row(5, 404, "never"),
  AGENT_VERSION_NOT_AVAILABLE: row(5, 404, "never"),
  /** A job asks for more than what it may pass on. */
  LEASE_SUBSET_VIOLATION: row(7, 403, "never"),
  LEASE_EXPIRED: row(9, 409, "never"),
  BUDGET_EXHAUSTED: row(8, 402, "never"),
  /** A session fell silent and was let go; it may be resumed. */
  HEARTBEAT_LOST: row(14, 503, "now"),
  /** The other end answers as no rollcall does that this program knows. */
  INCOMPATIBLE: row(13, 502, "never"),
  UNIMPLEMENTED: row(12, 501, "never"),
  INTERNAL: row(13, 500, "never"),
} as const;

export interface CodeRow {
  readonly grpc: number;
  readonly http: number;
  /** Whether the same call may succeed if sent again. */
  readonly retry: "never" | "now" | "later";
}

function row(grpc: number, http: number, retry: CodeRow["retry"]): CodeRow {
  return { grpc, http, retry };
}

export type ErrorCode = keyof typeof CODES;

export class RollcallError extends Error {
  override readonly name = "RollcallError";
  readonly code: ErrorCode;

  constructor(code: ErrorCode, message: string, options: { readonly cause?: unknown } = {}) {
    super(message, options);
    this.code = code;
  }
}

/** The caller gave what cannot be taken; the message names it and says what is wrong with it. */
export function invalidArgument(message: string, cause?: unknown): RollcallError {
  return new RollcallError("INVALID_ARGUMENT", message, { cause });
}

/** A refusal of the rules, as it is thrown at the edge. */
export function refusalError({ code, reason }: RefusalFacts): RollcallError {
  return new RollcallError(code, reason);
}

interface RefusalFacts {
  readonly code: ErrorCode;
  readonly reason: string;
}

export function wireCodes(code: ErrorCode): CodeRow {
  return CODES[code];
}

export function isErrorCode(value: string): value is ErrorCode {
  return Object.hasOwn(CODES, value);
}

/** The message, with the field that it begins with (see fields.ts) called as the caller does. */
export function messageFor(
  { code, message }: RollcallError,
  nameOf: (field: string) => string,
): string {
  return NAMES_A_FIELD.includes(code) ? message.replace(/^[\w.]+/, nameOf) : message;
}

const NAMES_A_FIELD: readonly ErrorCode[] = ["INVALID_ARGUMENT", "TOO_LARGE"];

/** The code of anything that was thrown; what is not ours is a fault of the program. */
export function codeOf(error: unknown): ErrorCode {
  return error instanceof RollcallError ? error.code : "INTERNAL";
}

/** The message of anything that was thrown. */
export function errorText(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
