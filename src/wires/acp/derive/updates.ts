/**
 * The effect of each `session/update` on a session. Most change no status and are only a sign of
 * life; the caller counts those.
 */
import { field } from "../../../core/text.ts";
import { saidIn } from "./form.ts";
import { idText, numberIn, textIn } from "./frames.ts";
import { MEMORY, SHOWN } from "./limits.ts";
import { removePlan, setPlan, setTodos, updatePlan } from "./plans.ts";
import { admitsWork, hasTurn, setRunState, type AcpSession } from "./session.ts";
import { cut, shownText } from "./shown.ts";
import { endAssumed, mergeTool } from "./tools.ts";

export interface UpdateContext {
  readonly nowMs: number;
  /** The place of this frame in the order of all. */
  readonly order: number;
  /** Whether `state_update` means something: not in ACP v1. */
  readonly hasStates: boolean;
  /** Read the to-do list of agents that keep it in the input of a tool. */
  readonly readsTodos: boolean;
}

/** Variants that show that the agent works, prompted or not. */
const WORK: ReadonlySet<string> = new Set([
  "agent_thought_chunk",
  "agent_thought",
  "agent_message_chunk",
  "agent_message",
  "tool_call",
  "tool_call_update",
  "compaction_update",
]);

export function applyUpdate(session: AcpSession, params: unknown, context: UpdateContext): void {
  const update = field(params, "update");
  const variant = textIn(update, "sessionUpdate");
  if (session.loads.size > 0) {
    // This is history, but the state is a snapshot of now: a resumed session must send it.
    if (variant === "state_update" && context.hasStates)
      setRunState(session, update, context.nowMs);
    return;
  }
  const said = saidIn(params);
  if (said !== undefined && hasTurn(session)) session.said = said;
  if (variant === undefined) return;
  if (WORK.has(variant) && !isEmptyChunk(variant, update) && !admitsWork(session, context.nowMs)) {
    return;
  }
  change(session, { variant, update, context });
}

interface VariantUpdate {
  readonly variant: string;
  readonly update: unknown;
  readonly context: UpdateContext;
}

function change(session: AcpSession, { variant, update, context }: VariantUpdate): void {
  switch (variant) {
    case "agent_thought_chunk":
    case "agent_thought":
      session.lastChunk = "thought";
      endAssumed(session.tools);
      session.retry = null;
      return;
    case "agent_message_chunk":
    case "agent_message":
      if (isEmptyChunk(variant, update)) return;
      session.lastChunk = "text";
      endAssumed(session.tools);
      session.retry = null;
      return;
    case "tool_call":
    case "tool_call_update":
      mergeTool(session.tools, update, context.order);
      session.retry = null;
      if (context.readsTodos) setTodos(session.plans, update);
      return;
    case "compaction_update":
      return setMember(session.compactions, idText(update, "compactionId"), {
        isIn: textIn(update, "status") === "in_progress",
      });
    case "plan":
      return setPlan(session.plans, update);
    case "plan_update":
      return updatePlan(session.plans, update);
    case "plan_removed":
      return removePlan(session.plans, update);
    case "state_update":
      if (context.hasStates) setRunState(session, update, context.nowMs);
      return;
    case "session_info_update":
      session.title = shownText(textIn(update, "title"), SHOWN.name) ?? session.title;
      session.retry = retryIn(update) ?? session.retry;
      return;
    case "async_task_spawned":
    case "async_task_state_update":
      return setMember(session.tasks, idText(update, "asyncTaskId"), {
        isIn: !TASK_OVER.has(textIn(update, "state") ?? "running"),
      });
  }
}

/** Claude's background tasks, sent to clients that declare the capability for them. */
const TASK_OVER: ReadonlySet<string> = new Set(["completed", "failed", "stopped"]);

function setMember(
  members: Set<string>,
  id: string | undefined,
  { isIn }: { readonly isIn: boolean },
): void {
  if (id === undefined) return;
  if (!isIn) members.delete(id);
  else if (members.size < MEMORY.others) members.add(id);
}

/** Some agents send their usage in chunks without text, while a tool runs. */
function isEmptyChunk(variant: string, update: unknown): boolean {
  if (variant !== "agent_message_chunk" && variant !== "agent_message") return false;
  const content = field(update, "content");
  const blocks: readonly unknown[] = Array.isArray(content) ? content : [content];
  return !blocks.some((block) => {
    const type = textIn(block, "type");
    return type === "text" ? textIn(block, "text") !== "" : type !== undefined;
  });
}

/** OpenCode tells here that the model's provider refused and when it tries again. */
function retryIn(update: unknown): string | undefined {
  const retry = field(field(update, "_meta"), "opencode/retry");
  if (typeof retry !== "object" || retry === null) return undefined;
  const attempt = numberIn(retry, "attempt");
  const reason = shownText(textIn(field(retry, "error"), "message"));
  const head = attempt === undefined ? "Retrying" : `Retrying (attempt ${attempt})`;
  return reason === null ? head : cut(`${head}: ${reason}`, SHOWN.message);
}
