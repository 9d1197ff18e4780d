/** Errors of the operating system as errors of ours. */
import { RollcallError, type ErrorCode } from "../core/errors.ts";

const CODES: Readonly<Record<string, ErrorCode>> = {
  EACCES: "PERMISSION_DENIED",
  EPERM: "PERMISSION_DENIED",
  ENOSPC: "STORAGE_FULL",
  EDQUOT: "STORAGE_FULL",
  EROFS: "STORAGE_READ_ONLY",
};

export function systemError(doing: string, error: unknown): RollcallError {
  const { code, message } = error as NodeJS.ErrnoException;
  const words = `cannot ${doing}: ${message}`;
  return new RollcallError(CODES[code ?? ""] ?? "UNAVAILABLE", words, { cause: error });
}

/** The name the system has for an error: "ENOENT". */
export function systemCode(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? "";
}
