/** Whether the agent of a status file lives: by what it says, by its silence, by its process. */
import type { Liveness, Ruled } from "../../core/reports.ts";
import type { Processes } from "../../fleet/processes.ts";
import type { StatusFile } from "./read.ts";

export interface Signs {
  readonly nowMs: number;
  readonly staleAfterMs: number;
  readonly processes: Processes;
  /** Whether to ask if a process with that number is still the same one, which costs more. */
  readonly isProof: boolean;
}

/** How far the system's and a file's idea of a start may be apart: both tell whole seconds. */
const SAME_START_MS = 2_000;

/** `startedAtMs` is when its process began, as it was first seen. */
export function livenessOf(file: StatusFile, signs: Signs, startedAtMs?: number): Ruled<Liveness> {
  const { lifecycle, pid = 0 } = file.status.runtime;
  if (lifecycle === "stopped") return STOPPED;
  const isThere = pid > 0 && signs.processes.isThere(pid);
  if (pid > 0 && !isThere) return { value: "exited", rule: `process ${pid} is gone` };
  if (signs.isProof && isThere && isAnother(pid, file, { ...signs, startedAtMs })) {
    return { value: "exited", rule: `process ${pid} is another one now` };
  }
  const isStale = signs.nowMs - file.updatedAtMs > signs.staleAfterMs;
  if (isStale) return isThere ? QUIET : STALE;
  return lifecycle === "running" ? FRESH : UNKNOWN;
}

/** It began after its file was written, or at another time than when it was first seen. */
function isAnother(
  pid: number,
  file: StatusFile,
  { processes, startedAtMs }: Signs & { readonly startedAtMs: number | undefined },
): boolean {
  const beganAtMs = processes.startedAtMs(pid);
  if (beganAtMs === undefined) return false;
  return (
    beganAtMs > file.updatedAtMs + SAME_START_MS ||
    Math.abs(beganAtMs - (startedAtMs ?? beganAtMs)) > SAME_START_MS
  );
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
