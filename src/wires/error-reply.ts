/** An error as its caller gets it, on every wire. Details of a fault of ours stay in the log. */
import {
  codeOf,
  messageFor,
  RollcallError,
  wireCodes,
  type CodeRow,
  type ErrorCode,
} from "../core/errors.ts";

export interface ErrorReply {
  readonly code: ErrorCode;
  readonly message: string;
  readonly retry: CodeRow["retry"];
}

/** `nameOf` gives the caller's name of a field of core. */
export function errorReply(error: unknown, nameOf: (field: string) => string = String): ErrorReply {
  const code = codeOf(error);
  const isTheirs = error instanceof RollcallError && code !== "INTERNAL";
  const message = isTheirs
    ? messageFor(error, nameOf)
    : "internal error: the log of the daemon has the details";
  return { code, message, retry: wireCodes(code).retry };
}
