/** Old news are removed when somebody asks for it, never by reading them. */
import { existsSync, rmSync } from "node:fs";
import { derive } from "./derive.ts";
import { statusFolder } from "./folder.ts";
import type { Status } from "./format.ts";
import { FRESHNESS } from "./limits.ts";
import { readStatus, readStatusDir, type StatusReading } from "./read.ts";
import { timestampMs } from "./timestamp.ts";
import { sweepDrafts } from "./write.ts";

export interface PruneOptions {
  readonly folder?: string;
  readonly nowMs?: number;
  readonly staleAfterMs?: number;
  readonly pruneAfterMs?: number;
  /** Agents that stopped stay until they are stale. */
  readonly keepStopped?: boolean;
}

/** Removes what is old and over, newest first, and returns the paths. */
export function prune(options: PruneOptions = {}): readonly string[] {
  const { folder = statusFolder(), nowMs = Date.now() } = options;
  const isOld = (reading: StatusReading) =>
    reading.kind === "status" && isOver(reading.status, { ...options, nowMs });
  const all = readStatusDir(folder, { nowMs });
  if (existsSync(folder)) {
    sweepDrafts(folder, nowMs - (options.pruneAfterMs ?? FRESHNESS.pruneAfterMs));
  }
  return all
    .filter(isOld)
    .map(({ path }) => path)
    .filter((path) => {
      // Looked at once more: its agent may have come back while the others were read.
      if (!isOld(readStatus(path, { nowMs }))) return false;
      rmSync(path, { force: true });
      return true;
    });
}

type PruneMoment = PruneOptions & { readonly nowMs: number };

/** By the time that the file says: one from the future is not old. */
function isOver(status: Status, options: PruneMoment): boolean {
  const { nowMs, pruneAfterMs = FRESHNESS.pruneAfterMs, keepStopped = false } = options;
  const { lifecycle, updated_at } = status.runtime;
  if (nowMs - timestampMs(updated_at) <= pruneAfterMs) return false;
  if (lifecycle === "stopped" && !keepStopped) return true;
  return derive(status, options) === "stale";
}
