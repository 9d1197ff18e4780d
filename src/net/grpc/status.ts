/**
/**
 * An error as gRPC tells it, a number and a text, and back. Our own codes are finer than gRPC's
 * numbers, so the name goes along for who knows it; from somebody else's daemon the nearest is
 * taken.
 *
 * An error that is not ours may hold anything, so only its existence is told.
 */
import {
  codeOf,
  isErrorCode,
  messageFor,
  RollcallError,
  wireCodes,
  type ErrorCode,
} from "../../core/errors.ts";

export interface GrpcStatus {
  readonly code: number;
  readonly name: ErrorCode;
  readonly details: string;
}

/** The name that the proto has for a field of core. */
export type FieldName = (field: string) => string;

export function grpcStatusOf(error: unknown, fieldName: FieldName = String): GrpcStatus {
  const name = codeOf(error);
  const isOurs = error instanceof RollcallError && name !== "INTERNAL";
  const details = isOurs ? messageFor(error, fieldName) : "internal error";
  return { code: wireCodes(name).grpc, name, details };
}

/** Under this name the very code travels beside gRPC's number. */
const CODE_TRAILER = "rollcall-code";

/** As the trailers that end a call. */
export function trailersOf({ code, name, details }: GrpcStatus): Record<string, string> {
  return {
    "grpc-status": String(code),
    "grpc-message": percentEncoded(details),
    [CODE_TRAILER]: name,
  };
}

/** Headers hold printable ASCII only; a percent sign begins what is not. */
function percentEncoded(text: string): string {
  return text.replaceAll(/[^\u0020-\u0024\u0026-\u007E]+/gu, (rest) =>
    Array.from(
      Buffer.from(rest),
      (byte) => `%${byte.toString(16).toUpperCase().padStart(2, "0")}`,
    ).join(""),
  );
}

/** By gRPC's number; where several of ours have the same, the most general. */
const CODES: readonly (ErrorCode | undefined)[] = [
  undefined,
  "CANCELLED",
  "INTERNAL",
  "INVALID_ARGUMENT",
  "DEADLINE_EXCEEDED",
  "NOT_FOUND",
  "ALREADY_EXISTS",
  "PERMISSION_DENIED",
  "LIMIT_EXCEEDED",
  "WRONG_STATE",
  "WRONG_STATE",
  "OUT_OF_RANGE",
  "UNIMPLEMENTED",
  "INTERNAL",
  "UNAVAILABLE",
  "STORAGE_CORRUPT",
  "UNAUTHENTICATED",
];

/** The error in the trailers of a call; undefined when it succeeded. */
export function errorIn(trailers: (name: string) => string | undefined): RollcallError | undefined {
  const status = trailers("grpc-status") ?? "";
  if (/^0+$/.test(status)) return undefined;
  const exact = trailers(CODE_TRAILER) ?? "";
  const code = isErrorCode(exact) ? exact : (CODES[Number(status)] ?? "INTERNAL");
  const message = unescaped(trailers("grpc-message") ?? "");
  return new RollcallError(code, message || `the call failed with status ${status || "unknown"}`);
}

/** The escapes of `grpc-message` are those of URLs; what is not one stays as it came. */
function unescaped(message: string): string {
  try {
    return decodeURIComponent(message);
  } catch {
    return message;
  }
}
