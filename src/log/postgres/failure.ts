/**
 * What Postgres and the network say when they fail, in our codes, with what to do about it.
 *
 * Of a failed statement three things must be told apart. *Refused*: the server answered, and the
 * transaction is rolled back. *Lost*: no answer came, and nobody here knows what became of it.
 * And whether to try again is worth it: a server that restarts, or hands over to another one, will
 * be back.
 */
import { RollcallError } from "../../core/errors.ts";
import { failuresOf, FULL, reasonOf, UNREACHABLE, type Verdict } from "../failures.ts";

const BUSY: Verdict = {
  code: "UNAVAILABLE",
  advice: "did not get to it in time",
  isPassing: true,
};
const GONE: Verdict = {
  code: "STORAGE_CORRUPT",
  advice:
    "has lost tables of rollcall: restore them from a backup; to begin with an empty log, stop " +
    "all members and start them anew",
};
const DENIED: Verdict = {
  code: "STORAGE_READ_ONLY",
  advice: "does not allow it: CREATE SCHEMA NAME AUTHORIZATION USER for the user of the URL",
};
const LOGIN: Verdict = {
  code: "UNAVAILABLE",
  advice:
    "refuses to let us in: check the user of the URL, and the password in log_credentials_file " +
    "or PGPASSWORD",
};

/** By SQLSTATE, the whole of it or its class. */
const VERDICTS: Readonly<Record<string, Verdict>> = {
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

function verdictOn(error: unknown): Verdict | undefined {
  const state = sqlState(error);
  if (state === undefined) return UNREACHABLE;
  return VERDICTS[state] ?? VERDICTS[state.slice(0, 3)] ?? VERDICTS[state.slice(0, 2)];
}

const failures = failuresOf("Postgres", verdictOn);
export const { isPassing, damaged, otherLog } = failures;

export function postgresError(error: unknown, place: string): RollcallError {
  if (sqlState(error) !== STREAM_FENCED) return failures.errorOf(error, place);
  return new RollcallError("FENCED", reasonOf(error));
}
