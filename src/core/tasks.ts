/**
 * The queue: work that any agent with the right tools may take, done at most once.
 *
 *            claim                 complete
 *   pending ───────▶ claimed ───────────────▶ completed
 *      ▲                │
 *      └── retries ─────┤ fail, ttl passes, death of the claimer
 *          left         │
 *                       └── none left ──────▶ dead
 *
 * A claim carries a fencing token from the same counter as the leases, so that a former claimer
 * can be told from the current one. A task that comes back waits at the end of the
 * queue: one that fails every time does not keep the others waiting. A claim that its agent never
 * heard of is returned instead, as if it had not been made: the old place, and no retry spent.
 */
import { livingAgent } from "./agents.ts";
import { newOwner } from "./by.ts";
import { Heap, type Slot } from "./heap.ts";
import { decided, refuse, type Decision, type Moment, type Refusal } from "./decide.ts";
import type { Event } from "./events.ts";
import { atMost, count, invalid, key, prose, ttl } from "./fields.ts";
import { IndexBy } from "./index-by.ts";
import { COUNT, FIELD, RETENTION, TTL } from "./limits.ts";
import type { State } from "./state.ts";
import { giveUp, makeRoom, weightOf } from "./task-endings.ts";
import { TaskQueue } from "./task-queue.ts";

export type TaskStatus = "pending" | "claimed" | "completed" | "dead";

export interface Task {
  readonly id: string;
  /** The principal that created it; absent for `local`. */
  readonly owner?: string | undefined;
  readonly type: string;
  /** Bytes as base64: the log is text. */
  readonly input: string;
  readonly output: string;
  readonly status: TaskStatus;
  readonly requiredTools: readonly string[];
  readonly maxRetries: number;
  readonly retryCount: number;
  /** How long a claim lasts. */
  readonly ttlMs: number;
  /** The claim's; empty and 0 while nobody has it. A finished task keeps its last claimer. */
  readonly claimedBy: string;
  readonly token: number;
  readonly expiresAtMs: number;
  readonly failureReason: string;
  readonly createdAtMs: number;
  readonly claimedAtMs: number;
  /** When it was completed, or given up. */
  readonly finishedAtMs: number;
}

export interface TaskEntry {
  task: Task;
  /** Rings at the end of the claim, or when a finished task may be forgotten. */
  readonly timer: Slot<string>;
}

export class Tasks {
  readonly byId = new Map<string, TaskEntry>();
  readonly byClaimer = new IndexBy();
  readonly pending = new TaskQueue();
  readonly claims = new Heap<string>();
  readonly finished = new Heap<string>();
  /** How many of the finished were given up. */
  dead = 0;
  /** Their size together. */
  unfinishedBytes = 0;
  finishedBytes = 0;
}

type HolderCommand<Type extends string> = {
  readonly type: Type;
  readonly taskId: string;
  readonly agentId: string;
  /** The claim's token, from callers that know it; the holder is checked either way. */
  readonly token?: number;
};

export type TaskCommand =
  | {
      readonly type: "task.create";
      readonly taskType: string;
      readonly input: string;
      readonly requiredTools: readonly string[];
      readonly maxRetries: number;
      readonly ttlMs: number;
    }
  | { readonly type: "task.claim"; readonly agentId: string }
  | HolderCommand<"task.renew">
  | (HolderCommand<"task.complete"> & { readonly output: string })
  | (HolderCommand<"task.fail"> & { readonly reason: string })
  | (HolderCommand<"task.return"> & { readonly token: number });

export interface TaskReplies {
  "task.create": Task;
  /** Null when no task that waits fits the agent. */
  "task.claim": Task | null;
  "task.renew": Task;
  "task.complete": null;
  "task.fail": null;
  "task.return": null;
}

export interface Claim {
  readonly agentId: string;
  readonly token: number;
  readonly claimedAtMs: number;
  readonly expiresAtMs: number;
}

export type TaskEvent =
  | { readonly type: "task.created"; readonly task: Task }
  | { readonly type: "task.claimed"; readonly taskId: string; readonly claim: Claim }
  | { readonly type: "task.renewed"; readonly taskId: string; readonly expiresAtMs: number }
  | {
      readonly type: "task.completed";
      readonly taskId: string;
      readonly agentId: string;
      readonly output: string;
      readonly finishedAtMs: number;
    }
  | {
      readonly type: "task.requeued" | "task.died";
      readonly taskId: string;
      /** The agent that had claimed it. */
      readonly agentId: string;
      readonly reason: string;
      readonly givenUpAtMs: number;
    }
  | { readonly type: "task.returned"; readonly taskId: string; readonly agentId: string }
  | { readonly type: "task.forgotten"; readonly taskId: string };

export function decideTask(
  state: State,
  command: TaskCommand,
  moment: Moment,
): Decision<Event, Task | null> {
  switch (command.type) {
    case "task.create":
      return create(state, command, moment);
    case "task.claim":
      return claim(state, command.agentId, moment);
    case "task.renew": {
      const task = claimedTask(state, command);
      if ("ok" in task) return task;
      const expiresAtMs = moment.nowMs + task.ttlMs;
      return decided([{ type: "task.renewed", taskId: task.id, expiresAtMs }], {
        ...task,
        expiresAtMs,
      });
    }
    case "task.complete":
      return complete(state, command, moment);
    case "task.fail": {
      const refusal = invalid(prose("reason", command.reason, FIELD.reasonLength));
      if (refusal) return refusal;
      const task = claimedTask(state, command);
      if ("ok" in task) return task;
      const { reason } = command;
      return decided(giveUp(state, [task.id], { reason, nowMs: moment.nowMs }), null);
    }
    case "task.return": {
      const task = claimedTask(state, command);
      if ("ok" in task) return task;
      const { taskId, agentId } = command;
      return decided([{ type: "task.returned", taskId, agentId }], null);
    }
  }
}

function create(
  state: State,
  command: TaskCommand & { readonly type: "task.create" },
  moment: Moment,
): Decision<Event, Task> {
  const { tasks } = state;
  const { requiredTools } = command;
  const refusal = invalid(
    key("type", command.taskType, FIELD.nameLength),
    ttl("ttlMs", command.ttlMs),
    count("maxRetries", command.maxRetries, FIELD.maxRetries),
    atMost("requiredTools", requiredTools.length, FIELD.tools),
    ...requiredTools.map((tool, i) => key(`requiredTools[${i}]`, tool, FIELD.nameLength)),
    tooHeavy("input", command.input, FIELD.taskInputBytes),
  );
  if (refusal) return refusal;
  if (tasks.byId.size - tasks.finished.size >= COUNT.unfinishedTasks) {
    return refuse("LIMIT_EXCEEDED", `there are already ${COUNT.unfinishedTasks} unfinished tasks`);
  }
  if (tasks.unfinishedBytes + command.input.length > COUNT.taskBytes) {
    return refuse(
      "LIMIT_EXCEEDED",
      `the unfinished tasks together already weigh ${tasks.unfinishedBytes} bytes`,
    );
  }
  const task: Task = {
    id: moment.newId(),
    owner: newOwner(moment.by),
    type: command.taskType,
    input: command.input,
    output: "",
    status: "pending",
    requiredTools: [...new Set(requiredTools)].toSorted(),
    maxRetries: command.maxRetries,
    retryCount: 0,
    ttlMs: command.ttlMs === 0 ? TTL.taskDefaultMs : command.ttlMs,
    claimedBy: "",
    token: 0,
    expiresAtMs: 0,
    failureReason: "",
    createdAtMs: moment.nowMs,
    claimedAtMs: 0,
    finishedAtMs: 0,
  };
  return decided([{ type: "task.created", task }], task);
}

function claim(state: State, agentId: string, { nowMs }: Moment): Decision<Event, Task | null> {
  const agent = livingAgent(state, agentId);
  if ("ok" in agent) return agent;
  if (state.tasks.byClaimer.of(agentId).size >= COUNT.claimsPerAgent) {
    return refuse("LIMIT_EXCEEDED", `agent ${agentId} already has ${COUNT.claimsPerAgent} tasks`);
  }
  const taskId = state.tasks.pending.firstFor(agent.agent.card.tools);
  const task = taskId === undefined ? undefined : state.tasks.byId.get(taskId)?.task;
  if (!task) return decided([], null);
  const made: Claim = {
    agentId,
    token: state.fencing.lastToken + 1,
    claimedAtMs: nowMs,
    expiresAtMs: nowMs + task.ttlMs,
  };
  const event: Event = { type: "task.claimed", taskId: task.id, claim: made };
  return decided([event], claimed(task, made));
}

function complete(
  state: State,
  command: TaskCommand & { readonly type: "task.complete" },
  { nowMs }: Moment,
): Decision<Event, null> {
  const refusal = invalid(tooHeavy("output", command.output, FIELD.taskOutputBytes));
  if (refusal) return refusal;
  const task = claimedTask(state, command);
  if ("ok" in task) return task;
  const { agentId, output } = command;
  const done: Event = {
    type: "task.completed",
    taskId: task.id,
    agentId,
    output,
    finishedAtMs: nowMs,
  };
  const bytes = weightOf(task) + output.length;
  return decided([done, ...makeRoom(state.tasks, { count: 1, bytes })], null);
}

/** The task, if the caller still has it. */
function claimedTask(
  state: State,
  { taskId, agentId, token }: HolderCommand<string>,
): Task | Refusal {
  const refusal = invalid(key("taskId", taskId), key("agentId", agentId));
  if (refusal) return refusal;
  const task = state.tasks.byId.get(taskId)?.task;
  if (!task) return refuse("NOT_FOUND", `no task ${taskId}`);
  if (task.status !== "claimed") return refuse("WRONG_STATE", `task ${taskId} is ${task.status}`);
  if (task.claimedBy !== agentId) {
    return refuse("WRONG_STATE", `agent ${agentId} has no claim on task ${taskId}`);
  }
  if (token !== undefined && token !== task.token) {
    return refuse("WRONG_STATE", `token ${token} of task ${taskId} is no longer current`);
  }
  return task;
}

function tooHeavy(field: string, base64: string, maxBytes: number): string | undefined {
  const padding = base64.endsWith("==") ? 2 : Number(base64.endsWith("="));
  const bytes = Math.floor((base64.length * 3) / 4) - padding;
  return bytes > maxBytes
    ? `${field} has ${bytes} bytes, at most ${maxBytes} are allowed`
    : undefined;
}

function claimed(task: Task, { agentId, token, claimedAtMs, expiresAtMs }: Claim): Task {
  return { ...task, status: "claimed", claimedBy: agentId, token, claimedAtMs, expiresAtMs };
}

function unclaimed(task: Task): Task {
  const nobody = { claimedBy: "", token: 0, claimedAtMs: 0, expiresAtMs: 0 };
  return { ...task, status: "pending", ...nobody };
}

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
      return;
    case "task.returned":
      unclaim(tasks, entry);
      entry.task = unclaimed(task);
      tasks.pending.putBack(task.id);
      return;
    case "task.died": {
      const { reason: failureReason, givenUpAtMs: finishedAtMs } = event;
      unclaim(tasks, entry);
      finish(tasks, entry, { ...task, status: "dead", failureReason, finishedAtMs });
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
  tasks.unfinishedBytes += weightOf(task);
  switch (task.status) {
    case "pending":
      return;
    case "claimed":
      tasks.byClaimer.add(task.claimedBy, task.id);
      tasks.claims.move(entry.timer, task.expiresAtMs);
      // Ahead of all that wait, where a snapshot of version 1 does not tell its place.
      restorePlace(tasks, task);
      return;
    case "completed":
    case "dead":
      finish(tasks, entry, task);
      return;
  }
}

/** Its place in the queue, which a claimed task has as well. Called in the order of the queue. */
export function restorePlace({ pending }: Tasks, { id, requiredTools, status }: Task): void {
  pending.add(id, requiredTools);
  if (status === "claimed") pending.take(id);
}

function finish(tasks: Tasks, entry: TaskEntry, task: Task): void {
  tasks.unfinishedBytes -= weightOf(entry.task);
  tasks.finishedBytes += weightOf(task);
  if (task.status === "dead") tasks.dead += 1;
  entry.task = task;
  tasks.pending.drop(task.id);
  tasks.finished.move(entry.timer, task.finishedAtMs + RETENTION.finishedTaskMs);
}

function unclaim(tasks: Tasks, { task, timer }: TaskEntry): void {
  tasks.byClaimer.delete(task.claimedBy, task.id);
  tasks.claims.remove(timer);
}
