/**
 * Who has the database open, for the one who is turned away. The lock itself is SQLite's: it ends
 * with its process. This file only names the holder, so a stale one blocks nobody.
 */
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { RollcallError } from "../../core/errors.ts";

export function nameHolder(path: string): void {
  const holder = { pid: process.pid, host: hostname(), since: new Date().toISOString() };
  try {
    writeFileSync(lockFile(path), `${JSON.stringify(holder)}\n`, { mode: 0o600 });
  } catch {
    // A full disk: the store can be read all the same.
  }
}

export function forgetHolder(path: string): void {
  rmSync(lockFile(path), { force: true });
}

export function lockedError(path: string, cause: unknown): RollcallError {
  const message = `${path} is in use by ${readHolder(path)}: stop it first, or use another path`;
  return new RollcallError("LOCKED", message, { cause });
}

function readHolder(path: string): string {
  try {
    const holder: unknown = JSON.parse(readFileSync(lockFile(path), "utf8"));
    if (typeof holder === "object" && holder && "pid" in holder && "host" in holder) {
      return `process ${String(holder.pid)} on ${String(holder.host)}`;
    }
  } catch {
    // The holder has not written it yet, or is no rollcall.
  }
  return "another process";
}

function lockFile(path: string): string {
  return `${path}.lock`;
}
