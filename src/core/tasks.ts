/**
 * The queue: work that any agent with the right tools may take, done at most once.
 *
 *            claim                 complete
 *   pending ───────▶ claimed ───────────────▶ completed
 *      ▲                │
 *      └── retries ─────┤ fail, ttl passes, death of the claimer
 *          left         │
 *                       └── none left ──────▶ dead
 *   pending for longer than it may be ──────▶ dead
 *   pending or claimed ── cancel ───────────▶ cancelled
 *
 * A claim carries a fencing token from the same counter as the leases, so that a former claimer
 * can be told from the current one. A task that comes back waits at the end of the
 * queue: one that fails every time does not keep the others waiting. A claim that its agent never
 * heard of is returned instead, as if it had not been made: the old place, and no retry spent.
 */
import { livingAgent } from "./agents.ts";
import { newOwner, type By } from "./by.ts";
import { Heap, type Slot } from "./heap.ts";
import { decided, refuse, type Decision, type Moment, type Refusal } from "./decide.ts";
import type { Event } from "./events.ts";
import { atMost, count, invalid, key, prose, ttl } from "./fields.ts";
import { IndexBy } from "./index-by.ts";
import { COUNT, FIELD, TTL } from "./limits.ts";
import { beyondShare, Holdings, SHARED, wishOf } from "./shares.ts";
import type { State } from "./state.ts";
import { giveUp, isFinished, makeRoom, weightOf } from "./task-endings.ts";
import { cancelled, claimed } from "./task-evolution.ts";
import { TaskQueue } from "./task-queue.ts";

export type TaskStatus = "pending" | "claimed" | "completed" | "dead" | "cancelled";

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
  /** How long after its creation it may still be claimed; absent: for ever. */
  readonly pendingTtlMs?: number;
  /** The claim's; empty and 0 while nobody has it. A finished task keeps its last claimer. */
  readonly claimedBy: string;
  readonly token: number;
  readonly expiresAtMs: number;
  readonly failureReason: string;
  readonly createdAtMs: number;
  readonly claimedAtMs: number;
  /** When it was completed, given up, or cancelled. */
  readonly finishedAtMs: number;
}

export interface TaskEntry {
  task: Task;
  /** Rings when it has waited too long, at the end of the claim, or when it may be forgotten. */
  readonly timer: Slot<string>;
}

export class Tasks {
  readonly byId = new Map<string, TaskEntry>();
  readonly byClaimer = new IndexBy();
  readonly pending = new TaskQueue();
  /** Of those that wait, the ones that do not wait for ever. */
  readonly waits = new Heap<string>();
  readonly claims = new Heap<string>();
  readonly finished = new Heap<string>();
  /** How many of the finished were given up. */
  dead = 0;
  /** Of the unfinished: whose they are, and their size. */
  readonly unfinished = new Holdings();
  readonly weights = new Holdings();
  finishedBytes = 0;

  /** The size of the unfinished together. */
  get unfinishedBytes(): number {
    return this.weights.total;
  }
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
      /** 0 or none: it waits for ever. */
      readonly pendingTtlMs?: number;
    }
  | { readonly type: "task.cancel"; readonly taskId: string; readonly reason: string }
  | { readonly type: "task.claim"; readonly agentId: string }
  | HolderCommand<"task.renew">
  | (HolderCommand<"task.complete"> & { readonly output: string })
  | (HolderCommand<"task.fail"> & { readonly reason: string })
  | (HolderCommand<"task.return"> & { readonly token: number });

export interface TaskReplies {
  "task.create": Task;
  "task.cancel": Task;
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
  | {
      readonly type: "task.cancelled";
      readonly taskId: string;
      /** The agent that had claimed it; empty where none had. */
      readonly agentId: string;
      readonly reason: string;
      readonly cancelledAtMs: number;
    }
  /** It waited for longer than it may. */
  | { readonly type: "task.expired"; readonly taskId: string; readonly expiredAtMs: number }
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
    case "task.cancel":
      return cancel(state, command, moment);
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
  const { requiredTools, pendingTtlMs = 0 } = command;
  const refusal = invalid(
    key("type", command.taskType, FIELD.nameLength),
    ttl("ttlMs", command.ttlMs),
    ttl("pendingTtlMs", pendingTtlMs, TTL.pendingMaxMs),
    count("maxRetries", command.maxRetries, FIELD.maxRetries),
    atMost("requiredTools", requiredTools.length, FIELD.tools),
    ...requiredTools.map((tool, i) => key(`requiredTools[${i}]`, tool, FIELD.nameLength)),
    tooHeavy("input", command.input, FIELD.taskInputBytes),
  );
  if (refusal) return refusal;
  const full = roomFor(tasks, command, moment.by);
  if (full) return full;
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
    ...(pendingTtlMs > 0 && { pendingTtlMs }),
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

function roomFor(
  { unfinished, weights }: Tasks,
  { input }: TaskCommand & { readonly type: "task.create" },
  { principal }: By,
): Refusal | undefined {
  return (
    beyondShare(SHARED.unfinishedTasks, wishOf(unfinished, principal.name)) ??
    beyondShare(SHARED.taskBytes, wishOf(weights, principal.name, input.length))
  );
}

function cancel(
  { tasks }: State,
  { taskId, reason }: TaskCommand & { readonly type: "task.cancel" },
  { nowMs }: Moment,
): Decision<Event, Task> {
  const refusal = invalid(key("taskId", taskId), prose("reason", reason, FIELD.reasonLength));
  if (refusal) return refusal;
  const task = tasks.byId.get(taskId)?.task;
  if (!task) return refuse("NOT_FOUND", `no task ${taskId}`);
  if (task.status === "cancelled") return decided([], task);
  if (isFinished(task)) return refuse("WRONG_STATE", `task ${taskId} is ${task.status}`);
  const agentId = task.claimedBy;
  const event = { type: "task.cancelled", taskId, agentId, reason, cancelledAtMs: nowMs } as const;
  const room = makeRoom(tasks, { count: 1, bytes: weightOf(task) });
  return decided([event, ...room], cancelled(task, event));
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
