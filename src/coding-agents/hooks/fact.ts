/**
 * The event of one hook, reduced to the fields of a status: small, bounded, without the inputs and
 * outputs of tools. Payloads of subagents, and events that change nothing, give no fact.
 */
import type { ProcessProof } from "../../machine/processes.ts";
import { PAYLOAD, TEXT } from "./limits.ts";
import { isAsking, questionAtEnd, questionOf, type Question } from "./question.ts";
import { field, wordOf } from "../../core/text.ts";

export const HOOK_HOSTS = ["claude-code", "codex"] as const;

export type HookHost = (typeof HOOK_HOSTS)[number];

export const HOOK_EVENTS = [
  "SessionStart",
  "UserPromptSubmit",
  "PreToolUse",
  "PermissionRequest",
  "PostToolUse",
  "Stop",
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
  readonly tmux?: { readonly socket: string; readonly pane: string };
  /** The id of this agent in the fleet: ROLLCALL_AGENT_ID. */
  readonly rollcallAgentId?: string;
}

export interface Fact extends Circumstances {
  /** HostGone is the sidecar's: the process of the host has ended. */
  readonly event: HookEvent | "HostGone";
  readonly source?: string;
  readonly prompt?: string;
  readonly tool?: string;
  readonly toolUseId?: string;
  readonly question?: Question;
  readonly hasBackground?: boolean;
  readonly workspace?: string;
  readonly model?: string;
  readonly permissionMode?: string;
}

/** The event of a payload, however the host spells it: Stop, stop, user_prompt_submit. */
export function eventOf(payload: unknown): HookEvent | undefined {
  const name = field(payload, "hook_event_name");
  if (typeof name !== "string") return undefined;
  const plain = name.replaceAll("_", "").toLowerCase();
  return HOOK_EVENTS.find((event) => event.toLowerCase() === plain);
}

function isOfSubagent(payload: unknown): boolean {
  return Boolean(field(payload, "agent_id") ?? field(payload, "agent_transcript_path"));
}

export function sessionIdOf(payload: unknown): string | undefined {
  const id = field(payload, "session_id");
  return typeof id === "string" && id !== "" && id.length <= PAYLOAD.nameLength ? id : undefined;
}

export function factOf(payload: unknown, circumstances: Circumstances): Fact | undefined {
  const event = eventOf(payload);
  if (event === undefined || isOfSubagent(payload)) return undefined;
  const name = (key: string) => wordOf(field(payload, key), PAYLOAD.nameLength);
  const cwd = field(payload, "cwd");
  return {
    ...circumstances,
    event,
    ...defined({
      model: name("model"),
      permissionMode: name("permission_mode"),
      workspace: typeof cwd === "string" && cwd.startsWith("/") ? cwd : undefined,
    }),
    ...particulars(event, payload, name),
  };
}

function particulars(
  event: HookEvent,
  payload: unknown,
  name: (key: string) => string | undefined,
): Partial<Fact> {
  switch (event) {
    case "SessionStart":
      return defined({ source: name("source") });
    case "UserPromptSubmit":
      return defined({ prompt: wordOf(field(payload, "prompt"), TEXT.summaryLength) });
    case "PreToolUse":
    case "PermissionRequest":
    case "PostToolUse": {
      const tool = name("tool_name") ?? "a tool";
      const isQuestion =
        event === "PermissionRequest" || (event === "PreToolUse" && isAsking(tool));
      const question = isQuestion ? questionOf(tool, field(payload, "tool_input")) : undefined;
      return defined({ tool, toolUseId: name("tool_use_id"), question });
    }
    case "Stop":
      return defined({
        question: questionAtEnd(field(payload, "last_assistant_message")),
        hasBackground: hasBackground(field(payload, "background_tasks")) || undefined,
      });
    case "SessionEnd":
      return {};
  }
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
