/** The meaning of a failed answer: a refusal of the daemon, or a server that is no daemon. */
import { isErrorCode, RollcallError, wireCodes, type ErrorCode } from "../../core/errors.ts";
import { isRecord, parsedRecord } from "../../core/json-object.ts";

/** A code that this version does not know is INCOMPATIBLE. */
export function decodeError(body: string): { code?: ErrorCode; message?: string } {
  const error = parsedRecord(body)?.["error"];
  if (!isRecord(error)) return {};
  const { code, message } = error;
  if (typeof code !== "string" || typeof message !== "string") return {};
  if (isErrorCode(code)) return { code, message };
  return { code: "INCOMPATIBLE", message: `${message} (${code}: ${ANOTHER})` };
}

/** The statuses that a proxy before the daemon may send; any other is of another program. */
export function codeOfStatus(status: number): ErrorCode {
  const codes = ["PERMISSION_DENIED", "UNAUTHENTICATED", "LIMIT_EXCEEDED"] as const;
  const isAbsent = status >= 502 && status <= 504;
  const other = isAbsent ? "UNAVAILABLE" : "INCOMPATIBLE";
  return codes.find((code) => wireCodes(code).http === status) ?? other;
}

const ANOTHER = "this is no rollcall, or another version";

/** The answer is not what this version expects; `what` says where. */
export function incompatible(what: string): RollcallError {
  return new RollcallError("INCOMPATIBLE", `${what}: ${ANOTHER}`);
}
