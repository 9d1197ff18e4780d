/** What whoever called is told of an error. A fault of ours keeps its details to the log. */
import { codeOf, wireCodes, type CodeRow, type ErrorCode } from "../core/errors.ts";

export interface Told {
  readonly code: ErrorCode;
  readonly message: string;
  readonly retry: CodeRow["retry"];
}

export function told(error: unknown): Told {
  const code = codeOf(error);
  const isOurs = code === "INTERNAL" || !(error instanceof Error);
  const message = isOurs
    ? "something went wrong here; the log of the daemon says what"
    : error.message;
  return { code, message, retry: wireCodes(code).retry };
}
