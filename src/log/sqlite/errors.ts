/** What SQLite and the file system say when they fail, in our codes, and what to do about it. */
import { statfsSync } from "node:fs";
import { dirname } from "node:path";
import { RollcallError, type ErrorCode } from "../../core/errors.ts";

/** Below this the disk counts as full: SQLite hides the reason behind some of its I/O errors. */
const FULL_BELOW_BYTES = 64 << 10;

const CODES_OF_SQLITE: ReadonlyMap<number, ErrorCode> = new Map([
  [5, "LOCKED"],
  [6, "LOCKED"],
  [8, "STORAGE_READ_ONLY"],
  [11, "STORAGE_CORRUPT"],
  [13, "STORAGE_FULL"],
  [26, "STORAGE_CORRUPT"],
]);

const CODES_OF_SYSTEM: ReadonlyMap<string, ErrorCode> = new Map([
  ["EROFS", "STORAGE_READ_ONLY"],
  ["EACCES", "STORAGE_READ_ONLY"],
  ["EPERM", "STORAGE_READ_ONLY"],
  ["ENOSPC", "STORAGE_FULL"],
  ["EDQUOT", "STORAGE_FULL"],
]);

const ADVICE: Partial<Record<ErrorCode, string>> = {
  LOCKED: "is in use by another process",
  STORAGE_READ_ONLY: "cannot be written: check the mount and the owner of the file and its folder",
  STORAGE_CORRUPT: "is damaged: restore it from a backup, or move it away to start empty",
  STORAGE_FULL: "has no room left: nothing was written; free some and it goes on",
};

export function storageError(error: unknown, path: string): RollcallError {
  if (error instanceof RollcallError) return error;
  const code = storageCode(error, path);
  const reason = error instanceof Error ? error.message : String(error);
  const advice = ADVICE[code] ?? "failed";
  return new RollcallError(code, `${path} ${advice} (${reason})`, { cause: error });
}

function storageCode(error: unknown, path: string): ErrorCode {
  if (!(error instanceof Error)) return "INTERNAL";
  if ("errcode" in error && typeof error.errcode === "number") {
    const code = CODES_OF_SQLITE.get(error.errcode & 0xff);
    return code ?? (isFull(path) ? "STORAGE_FULL" : "UNAVAILABLE");
  }
  if (!("syscall" in error && "code" in error)) return "INTERNAL";
  return CODES_OF_SYSTEM.get(String(error.code)) ?? "UNAVAILABLE";
}

function isFull(path: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(dirname(path));
    return bavail * bsize < FULL_BELOW_BYTES;
  } catch {
    return false;
  }
}

export function corrupt(what: string, reason: string): RollcallError {
  return new RollcallError("STORAGE_CORRUPT", `${what} ${ADVICE.STORAGE_CORRUPT} (${reason})`);
}
