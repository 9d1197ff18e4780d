/** How HTTP says no: one body for every refusal, with the status of the table of codes. */
import { wireCodes, type ErrorCode } from "../../core/errors.ts";
import { errorReply } from "../error-reply.ts";

export interface HttpRefusal {
  readonly code: ErrorCode;
  readonly status: number;
  readonly body: string;
}

export function refusalOf(error: unknown): HttpRefusal {
  const { code, message, retry } = errorReply(error);
  const status = wireCodes(code).http;
  return { code, status, body: JSON.stringify({ error: { code, message, retry } }) };
}
