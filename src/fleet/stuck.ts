/** Says that it works, and nothing happens: how long that may last depends on what it does. */
import type { Activity, Liveness } from "../core/reports.ts";
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

interface WorkFacts {
  readonly liveness: Liveness;
  readonly activity: Activity;
  readonly activeAtMs: number;
}

/** Whether something last happened too long ago for what it says it does. */
export function isStuck(
  { liveness, activity, activeAtMs }: WorkFacts,
  { nowMs, patience }: { readonly nowMs: number; readonly patience: Patience },
): boolean {
  const mayTakeMs = patience[activity];
  return mayTakeMs !== undefined && liveness === "alive" && nowMs - activeAtMs > mayTakeMs;
}
