/**
 * How tasks come to an end, or back to the queue. The finished ones stay visible for a while, but
 * never keep others from finishing: when they are too many, or weigh too much, the oldest go.
 */
import type { Event } from "./events.ts";
import { RETENTION } from "./limits.ts";
import type { State } from "./state.ts";
import type { Task, Tasks } from "./tasks.ts";

/** The events of claims that came to nothing: back to the queue, or the end of the task. */
export function giveUp(
  state: State,
  taskIds: Iterable<string>,
  { reason, nowMs }: { readonly reason: string; readonly nowMs: number },
): Event[] {
  const events: Event[] = [];
  const ended = { count: 0, bytes: 0 };
  for (const taskId of taskIds) {
    const task = state.tasks.byId.get(taskId)?.task;
    if (!task) continue;
    const about = { taskId, agentId: task.claimedBy, reason, givenUpAtMs: nowMs };
    if (task.retryCount < task.maxRetries) {
      events.push({ type: "task.requeued", ...about });
    } else {
      events.push({ type: "task.died", ...about });
      ended.count += 1;
      ended.bytes += weightOf(task);
    }
  }
  return [...events, ...makeRoom(state.tasks, ended)];
}

/** The oldest finished tasks, as many as must go so that these may finish. */
export function makeRoom(
  tasks: Tasks,
  coming: { readonly count: number; readonly bytes: number },
): Event[] {
  let tooMany = tasks.finished.size + coming.count - RETENTION.finishedTasks;
  let tooHeavyBy = tasks.finishedBytes + coming.bytes - RETENTION.finishedTaskBytes;
  const events: Event[] = [];
  if (tooMany <= 0 && tooHeavyBy <= 0) return events;
  for (const taskId of tasks.finished.inOrder()) {
    const entry = tasks.byId.get(taskId);
    if (entry) tooHeavyBy -= weightOf(entry.task);
    tooMany -= 1;
    events.push({ type: "task.forgotten", taskId });
    const isEnough = tooMany <= 0 && tooHeavyBy <= 0;
    if (isEnough || events.length >= RETENTION.forgottenAtOnce) break;
  }
  return events;
}

export function weightOf(task: Task): number {
  return task.input.length + task.output.length;
}

export function isFinished({ status }: Task): boolean {
  return status !== "pending" && status !== "claimed";
}
