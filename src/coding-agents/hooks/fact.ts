/**
 * The event of one hook, reduced to the fields of a status: small, bounded, without the inputs and
 * outputs of tools. Events that change nothing give no fact.
 */
import type { ProcessProof } from "../../machine/processes.ts";
import type { TmuxPane } from "../../machine/surroundings.ts";
import type { HookDialect } from "./dialect.ts";
import { PAYLOAD, TEXT } from "./limits.ts";
import type { PresenceState } from "./presence.ts";
import { isAsking, questionAtEnd, subjectOf, type HookQuestion } from "./question.ts";
import { field, wordOf } from "../../core/text.ts";

export const HOOK_HOSTS = ["claude-code", "codex", "copilot", "gemini", "qwen-code"] as const;

export type HookHost = (typeof HOOK_HOSTS)[number];

/** In the order in which a session meets them. */
export const HOOK_EVENTS = [
  "SessionStart",
  "UserPromptSubmit",
  "PreToolUse",
  "PermissionRequest",
  "PermissionDenied",
  "PostToolUse",
  "PostToolUseFailure",
  "Notification",
  "Elicitation",
  "ElicitationResult",
  "SubagentStart",
  "SubagentStop",
  "Stop",
  "StopFailure",
  "Interrupt",
  "SessionEnd",
] as const;

export type HookEvent = (typeof HOOK_EVENTS)[number];

/** When and where a hook ran. */
export interface Circumstances {
  /** Unique among the facts of a session. */
  readonly id: string;
  /** When the hook began, on the clock that never jumps, in microseconds. */
  readonly order: number;
  readonly atMs: number;
  /** The host's process. */
  readonly process?: ProcessProof;
  readonly tmux?: TmuxPane;
  /** The id of this agent in the fleet: ROLLCALL_AGENT_ID. */
  readonly rollcallAgentId?: string;
  /** Whether the host's process is a server that several terminals share. */
  readonly isShared?: boolean;
}

/** Where a person sits in front of a session. */
export interface Seat {
  readonly process: ProcessProof;
  readonly tmux?: TmuxPane;
}

export interface Fact extends Circumstances {
  /**
   * The last three come from the sidecar, not from a hook: the process of the host has ended, a
   * second source contradicts the hooks, or tells in which terminal the session is.
   */
  readonly event: HookEvent | "HostGone" | "Presence" | "Seated";
  /** The subagent that it is about. */
  readonly subagent?: string;
  readonly source?: string;
  readonly prompt?: string;
  readonly tool?: string;
  readonly toolUseId?: string;
  /** Tells calls of one tool apart where they have no ids: a checksum of the tool's input. */
  readonly subject?: number;
  readonly question?: HookQuestion;
  readonly hasBackground?: boolean;
  /** Why it failed. */
  readonly failure?: string;
  readonly presence?: PresenceState;
  readonly seat?: Seat;
  readonly workspace?: string;
  readonly model?: string;
  readonly permissionMode?: string;
  /** The file in which the host writes the conversation down. */
  readonly conversation?: string;
}

const FACT_EVENTS = new Set<unknown>([...HOOK_EVENTS, "HostGone", "Presence", "Seated"]);

/** Whether it is one that this program can fold: one of a newer program may not be. */
export function isFact(value: unknown): value is Fact {
  const [order, atMs] = [field(value, "order"), field(value, "atMs")];
  const isTimed = Number.isFinite(order) && Number.isFinite(atMs);
  return (
    isTimed && typeof field(value, "id") === "string" && FACT_EVENTS.has(field(value, "event"))
  );
}

/** The event of a payload, however the host spells it: Stop, stop, user_prompt_submit. */
export function eventOf(payload: unknown): HookEvent | undefined {
  const name = field(payload, "hook_event_name");
  if (typeof name !== "string") return undefined;
  const plain = name.replaceAll("_", "").toLowerCase();
  return HOOK_EVENTS.find((event) => event.toLowerCase() === plain);
}

export function sessionIdOf(payload: unknown): string | undefined {
  const id = field(payload, "session_id");
  return typeof id === "string" && id !== "" && id.length <= PAYLOAD.nameLength ? id : undefined;
}

export function factOf(
  payload: unknown,
  circumstances: Circumstances,
  dialect: HookDialect,
): Fact | undefined {
  const event = eventOf(payload);
  if (event === undefined) return undefined;
  const name = (key: string) => wordOf(field(payload, key), PAYLOAD.nameLength);
  const path = (key: string) => pathOf(field(payload, key));
  const told = particulars(event, payload, dialect);
  if (told === undefined) return undefined;
  // It may call itself by its conversation alone.
  const isOfSubagent = path("agent_transcript_path") !== undefined;
  const subagent = name("agent_id") ?? (isOfSubagent ? "subagent" : undefined);
  if (subagent !== undefined && !OF_SUBAGENTS.has(event)) return undefined;
  const own = subagent === undefined ? path("transcript_path") : undefined;
  return {
    ...circumstances,
    event,
    ...defined({
      subagent,
      model: name("model"),
      permissionMode: name("permission_mode"),
      workspace: path("cwd"),
      conversation: own,
    }),
    ...told,
  };
}

/** A subagent's questions and tools concern the session; its turns do not. */
const OF_SUBAGENTS = new Set<HookEvent>([
  "PreToolUse",
  "PermissionRequest",
  "PermissionDenied",
  "PostToolUse",
  "PostToolUseFailure",
  "SubagentStart",
  "SubagentStop",
]);

function pathOf(value: unknown): string | undefined {
  return typeof value === "string" && value.startsWith("/") ? value : undefined;
}

/** Nothing where the event means nothing to us. */
function particulars(
  event: HookEvent,
  payload: unknown,
  dialect: HookDialect,
): Partial<Fact> | undefined {
  const name = (key: string) => wordOf(field(payload, key), PAYLOAD.nameLength);
  switch (event) {
    case "SessionStart":
      return defined({ source: name("source") });
    case "UserPromptSubmit": {
      const prompt = dialect.promptOf(field(payload, "prompt"));
      return defined({ prompt: wordOf(prompt, TEXT.summaryLength) });
    }
    case "PreToolUse":
    case "PermissionRequest":
    case "PermissionDenied":
    case "PostToolUse":
    case "PostToolUseFailure": {
      const tool = name("tool_name") ?? "a tool";
      const isQuestion =
        event === "PermissionRequest" || (event === "PreToolUse" && isAsking(tool));
      const input = field(payload, "tool_input");
      const question = isQuestion ? dialect.questionOf(tool, input) : undefined;
      const subject = checksum(subjectOf(input));
      return defined({ tool, toolUseId: name("tool_use_id"), subject, question });
    }
    case "Notification":
    case "Elicitation":
      return asked(event, payload);
    case "Stop":
      return defined({
        question: questionAtEnd(field(payload, "last_assistant_message")),
        hasBackground: hasBackground(field(payload, "background_tasks")) || undefined,
      });
    case "StopFailure": {
      const reason = wordOf(field(payload, "last_assistant_message"), TEXT.summaryLength);
      return { failure: reason ?? name("error") ?? "it failed" };
    }
    case "ElicitationResult":
    case "SubagentStart":
    case "SubagentStop":
    case "Interrupt":
    case "SessionEnd":
      return {};
  }
}

/** FNV-1a: of the input of a tool nothing goes into a fact. */
function checksum(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  let sum = 0x811c9dc5;
  for (let i = 0; i < text.length; i += 1) {
    sum = Math.imul(sum ^ text.charCodeAt(i), 0x01000193);
  }
  return sum >>> 0;
}

/** The meaning of each notification that we know; most say that a person is waited for. */
const NOTIFICATIONS: Readonly<Record<string, "asks" | "rests" | "nothing">> = {
  permission_prompt: "asks",
  agent_needs_input: "asks",
  elicitation_dialog: "asks",
  elicitation_url_dialog: "asks",
  worker_permission_prompt: "asks",
  idle_prompt: "rests",
  // Its tool has asked before, and better.
  ToolPermission: "nothing",
  agent_completed: "nothing",
  agent_idle: "nothing",
  auth_storage_failure: "nothing",
  auth_success: "nothing",
  computer_use_exit: "nothing",
  elicitation_complete: "nothing",
  elicitation_response: "nothing",
  plugin_notification: "nothing",
  push_notification: "nothing",
  shell_completed: "nothing",
  shell_detached_completed: "nothing",
};

/** The kind of a notification that we do not know. */
export function strangeNotification(payload: unknown): string | undefined {
  const kind = field(payload, "notification_type");
  if (eventOf(payload) !== "Notification" || typeof kind !== "string") return undefined;
  return Object.hasOwn(NOTIFICATIONS, kind) ? undefined : kind;
}

function asked(event: "Notification" | "Elicitation", payload: unknown): Partial<Fact> | undefined {
  const meaning = NOTIFICATIONS[String(field(payload, "notification_type"))];
  if (meaning === "rests") return { presence: "idle" };
  if (event === "Notification" && meaning !== "asks") return undefined;
  const text = wordOf(field(payload, "message"), TEXT.questionLength) ?? "it asks something";
  return { question: { kind: "text", text } };
}

const OVER = /^(?:completed|failed|killed|stopped|cancell?ed|done)$/u;

function hasBackground(tasks: unknown): boolean {
  if (!Array.isArray(tasks)) return false;
  return tasks.some((task: unknown) => {
    const status = field(task, "status");
    return typeof status !== "string" || !OVER.test(status);
  });
}

type Defined<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

/** Without what is not there. */
export function defined<T extends object>(value: T): Defined<T> {
  const entries = Object.entries(value).filter(([, each]) => each !== undefined);
  return Object.fromEntries(entries) as Defined<T>;
}
