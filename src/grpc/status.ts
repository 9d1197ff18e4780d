/** An error as gRPC tells it. What is not ours may hold anything, so only its existence is told. */
import { codeOf, RollcallError, wireCodes } from "../core/errors.ts";

export interface GrpcStatus {
  readonly code: number;
  readonly details: string;
}

export function grpcStatusOf(error: unknown): GrpcStatus {
  const code = codeOf(error);
  const isOurs = error instanceof RollcallError && code !== "INTERNAL";
  return { code: wireCodes(code).grpc, details: isOurs ? error.message : "internal error" };
}
