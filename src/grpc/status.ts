/**
 * An error as gRPC tells it, and back. What is not ours may hold anything, so only its existence
 * is told. gRPC has fewer codes than we do: ours travels beside its number, under a name of its
 * own, and who hears it from somebody else's daemon takes the nearest.
 */
import { codeOf, isErrorCode, RollcallError, wireCodes, type ErrorCode } from "../core/errors.ts";

export interface GrpcStatus {
  readonly code: number;
  readonly details: string;
}

export function grpcStatusOf(error: unknown): GrpcStatus {
  const code = codeOf(error);
  const isOurs = error instanceof RollcallError && code !== "INTERNAL";
  return { code: wireCodes(code).grpc, details: isOurs ? error.message : "internal error" };
}

/** Under this name the very code travels beside gRPC's number. */
const CODE_TRAILER = "rollcall-code";

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

/** What a call ended with says; nothing when it went well. */
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
