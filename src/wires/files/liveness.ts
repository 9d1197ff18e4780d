/** Whether the agent of a status file lives: by what it says, by its silence, by its process. */
import type { Liveness, Ruled } from "../../core/reports.ts";
import type { ProcessProof } from "../../machine/processes.ts";
import type { StatusFile } from "./read.ts";
import type { Processes } from "./writers.ts";

export interface Signs {
  readonly nowMs: number;
  readonly staleAfterMs: number;
  readonly processes: Pick<Processes, "find">;
}

/** Both the start of a process and the time of a file are told in whole seconds. */
const SAME_START_MS = 2_000;

/** `writer` is the process that wrote it, as it says or as it was first seen. */
export function livenessOf(
  file: StatusFile,
  signs: Signs,
  writer: ProcessProof | undefined,
): Ruled<Liveness> {
  const { lifecycle, pid = 0 } = file.status.runtime;
  if (lifecycle === "stopped") return STOPPED;
  const standing = pid > 0 ? standingOf(file, signs, writer) : "unknown";
  if (standing === "gone") return { value: "exited", rule: `process ${pid} is gone` };
  if (standing === "another") return { value: "exited", rule: `process ${pid} is another one now` };
  const isStale = signs.nowMs - file.updatedAtMs > signs.staleAfterMs;
  if (isStale) return standing === "there" ? QUIET : STALE;
  return lifecycle === "running" ? FRESH : UNKNOWN;
}

function standingOf(
  { status, updatedAtMs }: StatusFile,
  { processes }: Signs,
  writer: ProcessProof | undefined,
): "there" | "gone" | "another" {
  const { pid = 0 } = status.runtime;
  const found = processes.find(pid);
  if (!found) return "gone";
  const isOther = writer !== undefined && writer.start !== found.start;
  const isLater = (found.startedAtMs ?? 0) > updatedAtMs + SAME_START_MS;
  return isOther || isLater ? "another" : "there";
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
