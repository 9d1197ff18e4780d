/**
 * An error as gRPC tells it: a number and a text. Our own codes are finer than gRPC's numbers, so
 * the name goes along for clients that know it.
 *
 * What is not ours may hold anything, so only its existence is told.
 */
import { codeOf, RollcallError, wireCodes, type ErrorCode } from "../core/errors.ts";

export interface GrpcStatus {
  readonly code: number;
  readonly name: ErrorCode;
  readonly details: string;
}

export function grpcStatusOf(error: unknown): GrpcStatus {
  const name = codeOf(error);
  const isOurs = error instanceof RollcallError && name !== "INTERNAL";
  return { code: wireCodes(name).grpc, name, details: isOurs ? error.message : "internal error" };
}

/** As the trailers that end a call. */
export function trailersOf({ code, name, details }: GrpcStatus): Record<string, string> {
  return {
    "grpc-status": String(code),
    "grpc-message": percentEncoded(details),
    "rollcall-code": name,
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
