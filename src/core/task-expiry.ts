/** When tasks have waited too long, claims run out and finished tasks are forgotten. */
import { earliest } from "./heap.ts";
import type { Event } from "./events.ts";
import type { State } from "./state.ts";
import { giveUp, makeRoom, weightOf } from "./task-endings.ts";
import type { Tasks } from "./tasks.ts";

export function dueTask({ waits, claims, finished }: Tasks): number | undefined {
  return earliest(waits.nextAt(), claims.nextAt(), finished.nextAt());
}

export function expireTask(state: State, nowMs: number): readonly Event[] {
  const { waits, finished } = state.tasks;
  const old = finished.takeDue(nowMs);
  if (old) return [{ type: "task.forgotten", taskId: old.value }];
  const waiting = waits.takeDue(nowMs);
  return waiting ? endWait(state, waiting.value, nowMs) : endClaim(state, nowMs);
}

function endWait({ tasks, graceFromMs }: State, taskId: string, nowMs: number): readonly Event[] {
  const entry = tasks.byId.get(taskId);
  if (!entry) return [];
  const { createdAtMs, pendingTtlMs = 0 } = entry.task;
  const expiresAtMs = Math.max(createdAtMs, graceFromMs) + pendingTtlMs;
  if (expiresAtMs > nowMs) {
    tasks.waits.move(entry.timer, expiresAtMs);
    return [];
  }
  const room = makeRoom(tasks, { count: 1, bytes: weightOf(entry.task) });
  return [{ type: "task.expired", taskId, expiredAtMs: nowMs }, ...room];
}

function endClaim(state: State, nowMs: number): readonly Event[] {
  const { tasks } = state;
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
