/** How events change the queue, and how a snapshot puts its tasks back. */
import { ownerOf } from "./by.ts";
import { RETENTION } from "./limits.ts";
import type { State } from "./state.ts";
import { weightOf } from "./task-endings.ts";
import type { Claim, Task, TaskEntry, TaskEvent, Tasks } from "./tasks.ts";

/** Why a task is dead that waited for longer than it may. */
export const UNCLAIMED = "no agent claimed it in time";

export function evolveTask(state: State, event: TaskEvent): void {
  const { tasks, fencing } = state;
  if (event.type === "task.created") {
    restoreTask(state, event.task);
    tasks.pending.add(event.task.id, event.task.requiredTools);
    return;
  }
  const entry = tasks.byId.get(event.taskId);
  if (!entry) throw new Error(`the log speaks of task ${event.taskId} before it was created`);
  const { task, timer } = entry;
  switch (event.type) {
    case "task.claimed":
      entry.task = claimed(task, event.claim);
      tasks.pending.take(task.id);
      tasks.waits.remove(timer);
      tasks.byClaimer.add(event.claim.agentId, task.id);
      tasks.claims.move(timer, event.claim.expiresAtMs);
      fencing.lastToken = Math.max(fencing.lastToken, event.claim.token);
      return;
    case "task.renewed":
      entry.task = { ...task, expiresAtMs: event.expiresAtMs };
      return;
    case "task.completed": {
      const { output, finishedAtMs } = event;
      unclaim(tasks, entry);
      finish(tasks, entry, { ...task, status: "completed", output, finishedAtMs });
      return;
    }
    case "task.requeued":
      unclaim(tasks, entry);
      entry.task = {
        ...unclaimed(task),
        retryCount: task.retryCount + 1,
        failureReason: event.reason,
      };
      tasks.pending.add(task.id, task.requiredTools);
      wait(tasks, entry);
      return;
    case "task.returned":
      unclaim(tasks, entry);
      entry.task = unclaimed(task);
      tasks.pending.putBack(task.id);
      wait(tasks, entry);
      return;
    case "task.died": {
      const { reason: failureReason, givenUpAtMs: finishedAtMs } = event;
      unclaim(tasks, entry);
      finish(tasks, entry, { ...task, status: "dead", failureReason, finishedAtMs });
      return;
    }
    case "task.cancelled":
      if (task.status === "claimed") unclaim(tasks, entry);
      finish(tasks, entry, cancelled(task, event));
      return;
    case "task.expired": {
      const { expiredAtMs: finishedAtMs } = event;
      finish(tasks, entry, { ...task, status: "dead", failureReason: UNCLAIMED, finishedAtMs });
      return;
    }
    case "task.forgotten":
      tasks.finished.remove(timer);
      tasks.finishedBytes -= weightOf(task);
      if (task.status === "dead") tasks.dead -= 1;
      tasks.byId.delete(task.id);
      return;
  }
}

/** Puts a task where it belongs, but for the queue: its order is not in the task. */
export function restoreTask({ tasks }: State, task: Task): void {
  const entry: TaskEntry = { task, timer: { at: 0, value: task.id, place: -1 } };
  tasks.byId.set(task.id, entry);
  tasks.unfinished.add(ownerOf(task));
  tasks.weights.add(ownerOf(task), weightOf(task));
  switch (task.status) {
    case "pending":
      wait(tasks, entry);
      return;
    case "claimed":
      tasks.byClaimer.add(task.claimedBy, task.id);
      tasks.claims.move(entry.timer, task.expiresAtMs);
      // Ahead of all that wait, where a snapshot of version 1 does not tell its place.
      restorePlace(tasks, task);
      return;
    case "completed":
    case "dead":
    case "cancelled":
      finish(tasks, entry, task);
      return;
  }
}

/** Its place in the queue, which a claimed task has as well. Called in the order of the queue. */
export function restorePlace({ pending }: Tasks, { id, requiredTools, status }: Task): void {
  pending.add(id, requiredTools);
  if (status === "claimed") pending.take(id);
}

/** Until it is claimed, or has waited too long. */
function wait(tasks: Tasks, { task, timer }: TaskEntry): void {
  const { pendingTtlMs, createdAtMs } = task;
  if (pendingTtlMs !== undefined) tasks.waits.move(timer, createdAtMs + pendingTtlMs);
}

function finish(tasks: Tasks, entry: TaskEntry, task: Task): void {
  tasks.unfinished.remove(ownerOf(task));
  tasks.weights.remove(ownerOf(task), weightOf(entry.task));
  tasks.finishedBytes += weightOf(task);
  if (task.status === "dead") tasks.dead += 1;
  entry.task = task;
  tasks.pending.drop(task.id);
  tasks.waits.remove(entry.timer);
  tasks.finished.move(entry.timer, task.finishedAtMs + RETENTION.finishedTaskMs);
}

function unclaim(tasks: Tasks, { task, timer }: TaskEntry): void {
  tasks.byClaimer.delete(task.claimedBy, task.id);
  tasks.claims.remove(timer);
}

export function claimed(task: Task, { agentId, token, claimedAtMs, expiresAtMs }: Claim): Task {
  return { ...task, status: "claimed", claimedBy: agentId, token, claimedAtMs, expiresAtMs };
}

export function cancelled(
  task: Task,
  { reason: failureReason, cancelledAtMs }: TaskEvent & { readonly type: "task.cancelled" },
): Task {
  return { ...task, status: "cancelled", failureReason, finishedAtMs: cancelledAtMs };
}

function unclaimed(task: Task): Task {
  const nobody = { claimedBy: "", token: 0, claimedAtMs: 0, expiresAtMs: 0 };
  return { ...task, status: "pending", ...nobody };
}
