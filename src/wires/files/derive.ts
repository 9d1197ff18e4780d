/**
 * The state of an agent, from what it wrote and how long ago:
 *
 *   silent for longer than staleAfter          → stale   (evidence, not garbage: kept)
 *   running, nothing to do                     → idle
 *   with a task that says how it stands        → that
 *   else                                       → the lifecycle
 *
 * The states are the peer's. People ask a simpler question, which standing.ts and the fleet answer.
 */
import type { Lifecycle, Status, TaskState } from "./format.ts";
import { byCodePoints } from "./json-text.ts";
import { FRESHNESS } from "./limits.ts";
import type { StatusFile } from "./read.ts";
import { timestampMs } from "./timestamp.ts";

export type DerivedState = "stale" | "idle" | TaskState | Lifecycle;

export interface DeriveOptions {
  readonly nowMs: number;
  readonly staleAfterMs?: number;
}

export function derive(status: Status, options: DeriveOptions): DerivedState {
  return deriveAt(status, timestampMs(status.runtime.updated_at), options);
}

/** The same of a file, whose time is known and not in the future. */
export function deriveFile(file: StatusFile, options: DeriveOptions): DerivedState {
  return deriveAt(file.status, file.updatedAtMs, options);
}

function deriveAt(status: Status, updatedAtMs: number, options: DeriveOptions): DerivedState {
  const { nowMs, staleAfterMs = FRESHNESS.staleAfterMs } = options;
  const { runtime, task } = status;
  if (nowMs - updatedAtMs > staleAfterMs) return "stale";
  const hasTask = Object.keys(task ?? {}).length > 0;
  if (runtime.lifecycle === "running" && !hasTask) return "idle";
  return task?.state ?? runtime.lifecycle;
}

const RESTING: ReadonlySet<DerivedState> = new Set([
  "idle",
  "stale",
  "stopped",
  "unknown",
  "canceled",
]);

export function displayOrder(
  files: readonly StatusFile[],
  options: DeriveOptions,
): readonly StatusFile[] {
  return inDisplayOrder(files, options).map(({ file }) => file);
}

export interface DerivedFile {
  readonly file: StatusFile;
  readonly state: DerivedState;
}

/** Active agents first, by their ids; then the others, the last that did something first. */
export function inDisplayOrder(
  files: readonly StatusFile[],
  options: DeriveOptions,
): readonly DerivedFile[] {
  const keyed = files.map((file) => {
    const state = deriveFile(file, options);
    const isResting = RESTING.has(state);
    return { file, state, isResting, atMs: isResting ? activeAtMs(file) : 0 };
  });
  return keyed.sort(
    (a, b) =>
      Number(a.isResting) - Number(b.isResting) ||
      b.atMs - a.atMs ||
      byCodePoints(a.file.status.agent_id, b.file.status.agent_id),
  );
}

function activeAtMs({ status, updatedAtMs }: StatusFile): number {
  const { last_activity_at } = status.runtime;
  return last_activity_at === undefined ? updatedAtMs : timestampMs(last_activity_at);
}
