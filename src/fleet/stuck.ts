/** Says that it works, and nothing happens: how long that may last depends on what it does. */
import type { Activity } from "../core/reports.ts";
import type { Row } from "./row.ts";
import { MINUTE } from "../core/units.ts";

/** In milliseconds; what is not here is never stuck. */
export type Patience = Readonly<Partial<Record<Activity, number>>>;

export const DEFAULT_PATIENCE: Patience = {
  /** A model that takes longer for one answer has mostly lost its connection. */
  thinking: 10 * MINUTE,
  reading: 10 * MINUTE,
  writing: 10 * MINUTE,
  working: 10 * MINUTE,
  /** For a build, a test run, another agent. */
  waiting: 30 * MINUTE,
};

/** Since when nothing happened, if that is too long ago. */
export function stuckSince(
  row: Pick<Row, "activity" | "lastActivityAtMs" | "liveness" | "blockedOn"> & {
    /** When its activity was said and not only repeated. */
    readonly saidAtMs: number;
  },
  { nowMs, patience }: { readonly nowMs: number; readonly patience: Patience },
): number | null {
  const { activity, liveness } = row;
  const mayTakeMs = patience[activity.value];
  if (mayTakeMs === undefined || liveness.value !== "alive" || row.blockedOn) return null;
  const sinceMs = Math.max(row.lastActivityAtMs ?? 0, row.saidAtMs);
  return nowMs - sinceMs > mayTakeMs ? sinceMs : null;
}
