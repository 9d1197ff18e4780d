/**
 * What Postgres and the network say when they fail, in our codes, with what to do about it.
 *
 * Of a failed statement three things must be told apart. *Refused*: the server answered, and the
 * transaction is rolled back. *Lost*: no answer came, and nobody here knows what became of it.
 * And whether to try again is worth it: a server that restarts, or hands over to another one, will
 * be back.
 */
import { RollcallError, type ErrorCode } from "../../core/errors.ts";

/** By SQLSTATE, the whole of it or its class. */
interface FailureKind {
  readonly code: ErrorCode;
  readonly advice: string;
  readonly isPassing?: boolean;
}

const UNREACHABLE: FailureKind = {
  code: "UNAVAILABLE",
  advice: "cannot be reached",
  isPassing: true,
};
const BUSY: FailureKind = {
  code: "UNAVAILABLE",
  advice: "did not get to it in time",
  isPassing: true,
};
const FULL: FailureKind = {
  code: "STORAGE_FULL",
  advice: "has no room left: nothing was written; free some and it goes on",
};
const GONE: FailureKind = {
  code: "STORAGE_CORRUPT",
  advice:
    "has lost tables of rollcall: restore them from a backup; to begin with an empty log, stop " +
    "all members and start them anew",
};
const DENIED: FailureKind = {
  code: "STORAGE_READ_ONLY",
  advice: "does not allow it: CREATE SCHEMA NAME AUTHORIZATION USER for the user of the URL",
};
const LOGIN: FailureKind = {
  code: "UNAVAILABLE",
  advice:
    "refuses to let us in: check the user of the URL, and the password in log_credentials_file " +
    "or PGPASSWORD",
};

const VERDICTS: Readonly<Record<string, FailureKind>> = {
  "08": UNREACHABLE,
  "28": LOGIN,
  "3D000": { code: "UNAVAILABLE", advice: "has no such database: create it first" },
  "3F000": GONE,
  "42P01": GONE,
  "42703": GONE,
  "42883": GONE,
  "42501": DENIED,
  "25006": { code: "UNAVAILABLE", advice: "takes no writes: it is a standby", isPassing: true },
  "40": BUSY,
  "53100": FULL,
  "53": { code: "UNAVAILABLE", advice: "has no resources left", isPassing: true },
  "55P03": BUSY,
  "57014": BUSY,
  "57P": UNREACHABLE,
  XX001: { code: "STORAGE_CORRUPT", advice: "is damaged: restore it from a backup" },
  XX002: { code: "STORAGE_CORRUPT", advice: "has a damaged index: REINDEX the schema" },
};

/** Our own code, of an append that a stream's head fences. */
const STREAM_FENCED = "RC001";

export function sqlState(error: unknown): string | undefined {
  if (!(error instanceof Error && "code" in error)) return undefined;
  return "severity" in error && typeof error.code === "string" ? error.code : undefined;
}

function verdictOn(error: unknown): FailureKind | undefined {
  const state = sqlState(error);
  if (state === undefined) return UNREACHABLE;
  return VERDICTS[state] ?? VERDICTS[state.slice(0, 3)] ?? VERDICTS[state.slice(0, 2)];
}

/** Whether the same may succeed in a moment. */
export function isPassing(error: unknown): boolean {
  if (error instanceof RollcallError) return PASSING.has(error);
  return verdictOn(error)?.isPassing ?? false;
}

const PASSING = new WeakSet<RollcallError>();

/** In our codes; `place` says which server and schema it was. */
export function postgresError(error: unknown, place: string): RollcallError {
  if (error instanceof RollcallError) return error;
  const reason = reasonOf(error);
  if (sqlState(error) === STREAM_FENCED) return new RollcallError("FENCED", reason);
  const { code, advice } = verdictOn(error) ?? { code: "INTERNAL", advice: "failed" };
  const told = new RollcallError(code, `Postgres at ${place} ${advice} (${reason})`, {
    cause: error,
  });
  if (isPassing(error)) PASSING.add(told);
  return told;
}

/** Node tries all addresses of a host, and gives an error without a message for them together. */
function reasonOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(reasonOf).join("; ");
  return error instanceof Error ? error.message : String(error);
}

export function damaged(place: string, what: string): RollcallError {
  const message = `Postgres at ${place} is damaged: ${what}; restore it from a backup`;
  return new RollcallError("STORAGE_CORRUPT", message);
}

/** The tables were dropped and made anew, or another database answers at this place. */
export function otherLog(place: string): RollcallError {
  const message = `Postgres at ${place} holds another log than the one that was open here`;
  return new RollcallError("DIVERGED", message);
}
