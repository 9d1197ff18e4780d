/** Whether the agent of a status file lives: by what it says, by its silence, by its process. */
import type { Liveness, Judgement } from "../../core/reports.ts";
import type { ProcessProof } from "../../machine/processes.ts";
import type { StatusFile } from "./read.ts";
import type { Processes } from "./writers.ts";

export interface Sighting {
  readonly file: StatusFile;
  /** The process that wrote it, as it says or as it was first seen. */
  readonly writer: ProcessProof | undefined;
  /** Its file was there, and is no more. */
  readonly isRemoved?: boolean;
}

export interface Signs {
  readonly nowMs: number;
  readonly staleAfterMs: number;
  readonly processes: Pick<Processes, "find" | "startedAtMs">;
}

export interface Vitality {
  readonly liveness: Judgement<Liveness>;
  /** Its process is not there any more, or another one has its number. */
  readonly hasEnded: boolean;
}

export function vitalityOf(observed: Sighting, signs: Signs): Vitality {
  const standing = standingOf(observed, signs);
  const hasEnded = standing === "gone" || standing === "another";
  return { liveness: livenessOf(observed, standing, signs), hasEnded };
}

type WriterState = "there" | "gone" | "another" | "unknown";

function livenessOf(
  { file, isRemoved = false }: Sighting,
  standing: WriterState,
  { nowMs, staleAfterMs }: Signs,
): Judgement<Liveness> {
  const { lifecycle, pid } = file.status.runtime;
  if (isRemoved) return REMOVED;
  if (lifecycle === "stopped") return STOPPED;
  if (standing === "gone") return { value: "exited", rule: `process ${pid} is gone` };
  if (standing === "another") return { value: "exited", rule: `process ${pid} is another one now` };
  const isStale = nowMs - file.updatedAtMs > staleAfterMs;
  if (isStale) return standing === "there" ? QUIET : STALE;
  return lifecycle === "running" ? FRESH : UNKNOWN;
}

function standingOf({ file, writer }: Sighting, { processes }: Signs): WriterState {
  const { pid = 0 } = file.status.runtime;
  if (pid <= 0) return "unknown";
  const found = processes.find(pid);
  if (!found) return "gone";
  const isOther = writer !== undefined && writer.start !== found.start;
  return isOther || isLater(file, processes.startedAtMs(found)) ? "another" : "there";
}

/** Both the start of a process and the time of a file are told in whole seconds. */
const SAME_START_MS = 2_000;

/** Whether a process began after the file was written: then it is not the one of the file. */
export function isLater({ updatedAtMs }: StatusFile, startedAtMs: number | undefined): boolean {
  return (startedAtMs ?? 0) > updatedAtMs + SAME_START_MS;
}

export const REMOVED: Judgement<Liveness> = { value: "exited", rule: "its file is gone" };
const FRESH: Judgement<Liveness> = { value: "alive", rule: "its file is fresh" };
const QUIET: Judgement<Liveness> = {
  value: "alive",
  rule: "its file is old, but its process is there",
};
const STALE: Judgement<Liveness> = { value: "stale", rule: "its file is old" };
const STOPPED: Judgement<Liveness> = { value: "exited", rule: "it says that it stopped" };
const UNKNOWN: Judgement<Liveness> = { value: "unknown", rule: "its lifecycle is unknown" };
