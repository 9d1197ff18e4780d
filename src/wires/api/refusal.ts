/** How HTTP says no: one body for every refusal, with the status of the table of codes. */
import { codeOf, wireCodes, type ErrorCode } from "../../core/errors.ts";

export interface HttpRefusal {
  readonly code: ErrorCode;
  readonly status: number;
  readonly body: string;
}

/** What an error looks like outside. A fault of ours keeps its details to the log. */
export function refusalOf(error: unknown): HttpRefusal {
  const code = codeOf(error);
  const { http, retry } = wireCodes(code);
  const isOurs = code === "INTERNAL" || !(error instanceof Error);
  const message = isOurs
    ? "something went wrong here; the log of the daemon says what"
    : error.message;
  return { code, status: http, body: JSON.stringify({ error: { code, message, retry } }) };
}
