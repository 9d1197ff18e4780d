/** What the servers of a store say when they fail, in our codes, with what to do about it. */
import { RollcallError, type ErrorCode } from "../core/errors.ts";

export interface Verdict {
  readonly code: ErrorCode;
  /** After the store's name and place. */
  readonly advice: string;
  /** Whether the same may succeed in a moment. */
  readonly isPassing?: boolean;
}

export interface Failures {
  readonly isPassing: (error: unknown) => boolean;
  /** In our codes; `place` says which servers and which log it was. */
  readonly errorOf: (error: unknown, place: string) => RollcallError;
  readonly damaged: (place: string, what: string) => RollcallError;
  /** It was made anew, or other servers answer at this place. */
  readonly otherLog: (place: string) => RollcallError;
}

export const UNREACHABLE: Verdict = {
  code: "UNAVAILABLE",
  advice: "cannot be reached",
  isPassing: true,
};

export const FULL: Verdict = {
  code: "STORAGE_FULL",
  advice: "has no room left: nothing was written; free some and it goes on",
};

/** Those that were passing before they were told in our codes. */
const PASSING = new WeakSet<RollcallError>();

export function failuresOf(
  store: string,
  verdictOn: (error: unknown) => Verdict | undefined,
): Failures {
  const isPassing = (error: unknown) => {
    if (error instanceof RollcallError) return PASSING.has(error);
    return verdictOn(error)?.isPassing ?? false;
  };
  return {
    isPassing,
    errorOf(error, place) {
      if (error instanceof RollcallError) return error;
      const { code, advice } = verdictOn(error) ?? { code: "INTERNAL", advice: "failed" };
      const message = `${store} at ${place} ${advice} (${reasonOf(error)})`;
      const told = new RollcallError(code, message, { cause: error });
      if (isPassing(error)) PASSING.add(told);
      return told;
    },
    damaged(place, what) {
      const message = `${store} at ${place} is damaged: ${what}; restore it from a backup`;
      return new RollcallError("STORAGE_CORRUPT", message);
    },
    otherLog(place) {
      const message = `${store} at ${place} holds another log than the one that was open here`;
      return new RollcallError("DIVERGED", message);
    },
  };
}

/** Node tries all addresses of a host, and gives an error without a message for them together. */
export function reasonOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(reasonOf).join("; ");
  return error instanceof Error ? error.message : String(error);
}
