/**
 * Qwen Code's hooks, which are called as Claude Code's. They tell more: PreToolUse comes when a
 * tool really begins, so after a permission was granted, and a notification when it waits for a
 * prompt, so also after a permission was denied and after a turn was interrupted. It hands the
 * results of tools to its model as a prompt without words.
 */
import { field } from "../../core/text.ts";
import { HOOK_TIMEOUT, retold, type HookDialect } from "../hooks/dialect.ts";
import { isAsking, questionOf } from "../hooks/question.ts";

export const qwenCodeDialect: HookDialect = {
  events: {
    SessionStart: HOOK_TIMEOUT,
    UserPromptSubmit: HOOK_TIMEOUT,
    PreToolUse: HOOK_TIMEOUT,
    PermissionRequest: HOOK_TIMEOUT,
    PermissionDenied: HOOK_TIMEOUT,
    PostToolUse: HOOK_TIMEOUT,
    PostToolUseFailure: HOOK_TIMEOUT,
    Notification: HOOK_TIMEOUT,
    SubagentStart: HOOK_TIMEOUT,
    SubagentStop: HOOK_TIMEOUT,
    Stop: HOOK_TIMEOUT,
    StopFailure: HOOK_TIMEOUT,
    SessionEnd: HOOK_TIMEOUT,
  },
  /** A tool that asks the user begins when it has the answer. */
  translate(payload) {
    const isBegun = field(payload, "hook_event_name") === "PreToolUse";
    const isAnswered = isBegun && isAsking(String(field(payload, "tool_name")));
    return isAnswered ? retold(payload, { hook_event_name: "PostToolUse" }) : payload;
  },
  promptOf: (prompt) => prompt,
  questionOf,
};
