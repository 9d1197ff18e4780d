/**
 * How the proxy ends: as its agent did. Editors show the number, and tell a crash from a kill by
 * the signal, so a signal is died of and not only reported.
 */
import { constants } from "node:os";
import type { ProcessExit } from "./agent-process.ts";

/** Exit codes of shells for a command that is not there, and for one that cannot be run. */
const NOT_FOUND = 127;
const NOT_RUNNABLE = 126;

/** Node makes something else of them than an end: a debugger, or nothing. */
const NOT_DEADLY = new Set<NodeJS.Signals>(["SIGUSR1", "SIGPIPE"]);

/** Everything was written: this ends the process, now. */
export function leaveAs({ code, signal }: ProcessExit): void {
  if (signal === null) process.exit(code ?? 0);
  process.removeAllListeners(signal);
  if (!NOT_DEADLY.has(signal)) process.kill(process.pid, signal);
  // Where a signal does not end us at once, as on Windows, its number does.
  setTimeout(() => process.exit(128 + constants.signals[signal]), 100);
}

export function exitCodeOfFailure(error: unknown): number {
  return codeOf(error) === "ENOENT" ? NOT_FOUND : NOT_RUNNABLE;
}

/** The one line that is ever written to stderr. */
export function complaintOf(command: string, error: unknown): string {
  const code = codeOf(error);
  const reason = REASONS[code] ?? (code || "cannot be run");
  return `rollcall acp: ${JSON.stringify(command)}: ${reason}\n`;
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: "there is no such command",
  EACCES: "may not be run",
  E2BIG: "has too many arguments",
};

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "";
}
