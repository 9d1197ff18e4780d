/**
 * Whether the agent of a status file lives: by what it says, by its silence, by its process. That a
 * process is still there, and still the same, is proved by its number and its start. Without that
 * proof a cheap signal must do, which a dead one that nobody buried or another with its number
 * would answer as well.
 */
import type { Liveness, Ruled } from "../../core/reports.ts";
import { findProcess, startedAtMs, type ProcessProof } from "../../machine/processes.ts";
import type { Status } from "./format.ts";
import type { StatusFile } from "./read.ts";
import { recordOf } from "./report.ts";

/** Of this machine; a test has its own. */
export interface Processes {
  /** May be wrong about one that is dead, and never about one that lives. */
  mayBeThere(pid: number): boolean;
  find(pid: number): FoundProcess | undefined;
}

interface FoundProcess extends ProcessProof {
  /** Where the system tells. */
  readonly startedAtMs: number | undefined;
}

export const systemProcesses: Processes = {
  find(pid) {
    const found = findProcess(pid);
    return found && { ...found, startedAtMs: startedAtMs(found) };
  },
  mayBeThere(pid) {
    try {
      return process.kill(pid, 0);
    } catch (error) {
      // Somebody else's: there, but not ours to signal.
      return (error as NodeJS.ErrnoException).code === "EPERM";
    }
  },
};

export interface Signs {
  readonly nowMs: number;
  readonly staleAfterMs: number;
  readonly processes: Processes;
  /** Whether to prove that its process is there and the same one, which costs more. */
  readonly isProof: boolean;
}

/** Both the start of a process and the time of a file are told in whole seconds. */
const SAME_START_MS = 2_000;

/** `writer` is the process that wrote it, as its file says or as it was first seen, if either. */
export function livenessOf(
  file: StatusFile,
  signs: Signs,
  writer: ProcessProof | undefined,
): Ruled<Liveness> {
  const { lifecycle, pid = 0 } = file.status.runtime;
  if (lifecycle === "stopped") return STOPPED;
  const found = signs.isProof && pid > 0 ? signs.processes.find(pid) : undefined;
  const isThere =
    pid > 0 && (signs.isProof ? found !== undefined : signs.processes.mayBeThere(pid));
  if (pid > 0 && !isThere) return { value: "exited", rule: `process ${pid} is gone` };
  if (found && isAnother(found, file, writer)) {
    return { value: "exited", rule: `process ${pid} is another one now` };
  }
  const isStale = signs.nowMs - file.updatedAtMs > signs.staleAfterMs;
  if (isStale) return isThere ? QUIET : STALE;
  return lifecycle === "running" ? FRESH : UNKNOWN;
}

/** It is not the one that wrote the file, or it began only after that. */
function isAnother(
  found: FoundProcess,
  file: StatusFile,
  writer: ProcessProof | undefined,
): boolean {
  const isLater = (found.startedAtMs ?? 0) > file.updatedAtMs + SAME_START_MS;
  return isLater || (writer !== undefined && found.start !== writer.start);
}

/** What our own emitters say of the process that they speak for. */
export function writerOf({ runtime, x_meta }: Status): ProcessProof | undefined {
  const { pid, start } = recordOf(recordOf(x_meta?.["rollcall"])["process"]);
  if (typeof start !== "string" || pid !== runtime.pid || runtime.pid === undefined)
    return undefined;
  return { pid: runtime.pid, start };
}

export const GONE: Ruled<Liveness> = { value: "exited", rule: "its file is gone" };
const FRESH: Ruled<Liveness> = { value: "alive", rule: "its file is fresh" };
const QUIET: Ruled<Liveness> = {
  value: "alive",
  rule: "its file is old, but its process is there",
};
const STALE: Ruled<Liveness> = { value: "stale", rule: "its file is old" };
const STOPPED: Ruled<Liveness> = { value: "exited", rule: "it says that it stopped" };
const UNKNOWN: Ruled<Liveness> = { value: "unknown", rule: "its lifecycle is unknown" };
