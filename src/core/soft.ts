/** The part of a state that only the node that leads knows, and the log does not. */
import type { Job } from "./jobs.ts";
import { setAttached } from "./sessions.ts";
import type { State } from "./state.ts";

/**
 * Forgets it where another node is about to lead, as a start does: connections are gone, and what
 * jobs say is heard elsewhere. Calls with each job that told more than the log has. Heartbeats
 * stay: they were heard, and whoever leads next grants everybody a grace.
 */
export function forgetSoft(state: State, onForgotten: (job: Job) => void): void {
  const nowMs = state.lastAtMs;
  for (const [id, { isAttached }] of state.sessions.byId) {
    if (isAttached) setAttached(state, id, { isAttached: false, nowMs });
  }
  for (const entry of state.jobs.byId.values()) {
    if (!entry.pulse) continue;
    entry.pulse = undefined;
    onForgotten(entry.job);
  }
}
