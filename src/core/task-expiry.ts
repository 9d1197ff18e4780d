/** When claims run out and finished tasks are forgotten. */
import { earliest } from "./heap.ts";
import type { Event } from "./events.ts";
import type { State } from "./state.ts";
import { giveUp } from "./task-endings.ts";
import type { Tasks } from "./tasks.ts";

export function dueTask(tasks: Tasks): number | undefined {
  return earliest(tasks.claims.nextAt(), tasks.finished.nextAt());
}

export function expireTask(state: State, nowMs: number): readonly Event[] {
  const { tasks } = state;
  const old = tasks.finished.takeDue(nowMs);
  if (old) return [{ type: "task.forgotten", taskId: old.value }];
  const timer = tasks.claims.takeDue(nowMs);
  const entry = timer && tasks.byId.get(timer.value);
  if (!entry) return [];
  const { task } = entry;
  const expiresAtMs = Math.max(task.expiresAtMs, state.graceFromMs + task.ttlMs);
  if (expiresAtMs > nowMs) {
    tasks.claims.move(entry.timer, expiresAtMs);
    return [];
  }
  const reason = `claim of agent ${task.claimedBy} ran out`;
  return giveUp(state, [task.id], { reason, nowMs });
}
