/** What whoever called is told of an error. A fault of ours keeps its details to the log. */
import {
  codeOf,
  messageFor,
  RollcallError,
  wireCodes,
  type CodeRow,
  type ErrorCode,
} from "../core/errors.ts";

export interface Told {
  readonly code: ErrorCode;
  readonly message: string;
  readonly retry: CodeRow["retry"];
}

/** `nameOf` says what the caller calls a field of core. */
export function told(error: unknown, nameOf: (field: string) => string = String): Told {
  const code = codeOf(error);
  const isTheirs = error instanceof RollcallError && code !== "INTERNAL";
  const message = isTheirs
    ? messageFor(error, nameOf)
    : "something went wrong here; the log of the daemon says what";
  return { code, message, retry: wireCodes(code).retry };
}
