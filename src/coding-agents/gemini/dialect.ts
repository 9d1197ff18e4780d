/**
 * Gemini CLI's hooks, which have names of their own:
 *
 *   BeforeAgent, AfterAgent      a turn                UserPromptSubmit, Stop
 *   BeforeTool, AfterTool        a call of a tool      PreToolUse, PostToolUse
 *   Notification                 it needs permission   PermissionRequest
 *
 * Its session_id is not to be relied on: a prompt that is typed while it still starts has another
 * one than its start and its end. The conversation is the same for all of them.
 *
 * BeforeTool comes before the permission is asked for. That it was granted is told by AfterTool, so
 * when the tool is over, and that it was denied by no hook: see witness.ts.
 */
import { basename } from "node:path";
import { field, wordOf } from "../../core/text.ts";
import { HOOK_TIMEOUT, retold, type HookDialect } from "../hooks/dialect.ts";
import { TEXT } from "../hooks/limits.ts";
import { questionOf, type HookQuestion } from "../hooks/question.ts";

/** It counts in milliseconds. */
const TIMEOUT_MS = HOOK_TIMEOUT * 1000;

const NAMES: Readonly<Record<string, string>> = {
  BeforeAgent: "UserPromptSubmit",
  AfterAgent: "Stop",
  BeforeTool: "PreToolUse",
  AfterTool: "PostToolUse",
};

export const geminiDialect: HookDialect = {
  events: {
    SessionStart: TIMEOUT_MS,
    BeforeAgent: TIMEOUT_MS,
    BeforeTool: TIMEOUT_MS,
    AfterTool: TIMEOUT_MS,
    Notification: TIMEOUT_MS,
    AfterAgent: TIMEOUT_MS,
    SessionEnd: TIMEOUT_MS,
  },
  translate(payload) {
    const event = String(field(payload, "hook_event_name"));
    const own = retold(payload, sessionOf(payload));
    if (event === "Notification") return permissionIn(own);
    const name = NAMES[event];
    if (name === undefined) return own;
    const last_assistant_message = field(payload, "prompt_response");
    return retold(own, { hook_event_name: name, last_assistant_message });
  },
  promptOf: (prompt) => prompt,
  questionOf: (tool, input) =>
    tool === PERMISSION ? permissionOf(input) : questionOf(tool, input),
};

function sessionOf(payload: unknown): { readonly session_id?: string } {
  const path = field(payload, "transcript_path");
  return typeof path === "string" && path !== "" ? { session_id: basename(path, ".jsonl") } : {};
}

/** No tool is called so: the notification does not say which one it is about. */
const PERMISSION = "permission";

/** The tool that asks the user has said so before, and better. */
function permissionIn(payload: unknown): unknown {
  const details = field(payload, "details");
  const isAsked = field(payload, "notification_type") === "ToolPermission";
  if (!isAsked || field(details, "type") === "ask_user") return payload;
  const event = { hook_event_name: "PermissionRequest", tool_name: PERMISSION };
  return retold(payload, { ...event, tool_input: details });
}

function permissionOf(details: unknown): HookQuestion {
  const word = (key: string) => wordOf(field(details, key), TEXT.questionLength);
  const command = word("command");
  const title = word("title")?.replace(/^Confirm (?:\w+: )?/u, "");
  const path = word("filePath");
  const text = command ?? path ?? title ?? "it needs permission";
  const kind = word("type") ?? "tool";
  return { kind: "permission", text: `${LABELS[kind] ?? kind}: ${text}` };
}

const LABELS: Readonly<Record<string, string>> = { exec: "Shell", edit: "Edit", mcp: "MCP" };

/** The command that a question asks to run. */
export function commandIn({ kind, text }: HookQuestion): string | undefined {
  const label = `${LABELS["exec"]}: `;
  return kind === "permission" && text.startsWith(label) ? text.slice(label.length) : undefined;
}
