/** One task: waits, is claimed by one agent at a time, and ends once, completed or given up. */
import type { Task } from "../../src/core/tasks.ts";
import type { Op } from "./history.ts";
import type { Model } from "./linearizable.ts";
import { commandOf, isRefused, told, type Input } from "./model.ts";

interface TaskState {
  readonly status: "none" | "pending" | "claimed" | "completed" | "dead" | "cancelled";
  readonly claimedBy: string;
  readonly token: number;
  readonly highest: number;
  readonly retryCount: number;
  readonly maxRetries: number;
}

/** Facts are: claims and creations nobody was told of, claims that ended by themselves. */
export const taskModel: Model<TaskState, Input> = {
  initial: {
    status: "none",
    claimedBy: "",
    token: 0,
    highest: 0,
    retryCount: 0,
    maxRetries: 0,
  },
  step(state, input) {
    if (input.kind === "asked") return asked(state, input.op);
    const { event } = input;
    switch (event.type) {
      case "task.created":
        return created(state, event.task.maxRetries);
      case "task.claimed":
        return claimed(state, event.claim.agentId, event.claim.token);
      case "task.requeued":
      case "task.died":
        return isHolder(state, event.agentId) ? givenUp(state) : undefined;
      case "task.expired":
        return state.status === "pending" ? { ...state, status: "dead" } : undefined;
      case "task.forgotten":
        return isFinished(state) ? { ...state, status: "none" } : undefined;
      default:
        return undefined;
    }
  },
  key: (state) => JSON.stringify(state),
};

function asked(state: TaskState, op: Op): TaskState | undefined {
  if (op.ask.kind === "read") {
    const { status, claimedBy, token, retryCount } = state;
    const now = status === "none" ? null : { status, claimedBy, token, retryCount };
    const answer = told<string>(op);
    return answer.kind === "ok" && answer.reply === JSON.stringify(now) ? state : undefined;
  }
  const create = commandOf(op, "task.create");
  if (create) return created(state, create.maxRetries);
  const claim = commandOf(op, "task.claim");
  if (claim) {
    const answer = told<Task>(op);
    return answer.kind === "ok" ? claimed(state, claim.agentId, answer.reply.token) : undefined;
  }
  if (commandOf(op, "task.cancel")) return cancelled(state, op);
  const command = commandOf(op, "task.renew", "task.complete", "task.fail", "task.return");
  if (!command) return undefined;
  const answer = told(op);
  if (!isHolder(state, command.agentId, command.token)) {
    const code = state.status === "none" ? "NOT_FOUND" : "WRONG_STATE";
    return answer.kind === "unknown" || isRefused(answer, code) ? state : undefined;
  }
  if (answer.kind === "refused") return undefined;
  switch (command.type) {
    case "task.renew":
      return state;
    case "task.complete":
      return { ...state, status: "completed" };
    case "task.fail":
      return givenUp(state);
    case "task.return":
      return { ...state, status: "pending", claimedBy: "", token: 0 };
  }
}

function cancelled(state: TaskState, op: Op): TaskState | undefined {
  const answer = told(op);
  if (state.status === "pending" || state.status === "claimed") {
    return answer.kind === "refused" ? undefined : { ...state, status: "cancelled" };
  }
  if (state.status === "cancelled") return answer.kind === "refused" ? undefined : state;
  const code = state.status === "none" ? "NOT_FOUND" : "WRONG_STATE";
  return answer.kind === "unknown" || isRefused(answer, code) ? state : undefined;
}

function isFinished({ status }: TaskState): boolean {
  return status === "completed" || status === "dead" || status === "cancelled";
}

function created(state: TaskState, maxRetries: number): TaskState | undefined {
  return state.status === "none" ? { ...state, status: "pending", maxRetries } : undefined;
}

function claimed(state: TaskState, claimedBy: string, token: number): TaskState | undefined {
  if (state.status !== "pending" || token <= state.highest) return undefined;
  return { ...state, status: "claimed", claimedBy, token, highest: token };
}

function isHolder(state: TaskState, agentId: string, token = state.token): boolean {
  return state.status === "claimed" && state.claimedBy === agentId && state.token === token;
}

function givenUp(state: TaskState): TaskState {
  if (state.retryCount === state.maxRetries) return { ...state, status: "dead" };
  const retryCount = state.retryCount + 1;
  return { ...state, status: "pending", claimedBy: "", token: 0, retryCount };
}
