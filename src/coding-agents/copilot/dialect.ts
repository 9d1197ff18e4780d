/**
 * Copilot CLI's hooks. Asked for by the names of Claude Code's it speaks nearly as that does. Its
 * PermissionRequest comes before its own rules are asked, so also for what they allow; that a
 * person is asked is a notification, with the command.
 */
import { field } from "../../core/text.ts";
import { HOOK_TIMEOUT, retold, type HookDialect } from "../hooks/dialect.ts";
import { questionOf } from "../hooks/question.ts";

export const copilotDialect: HookDialect = {
  events: {
    SessionStart: HOOK_TIMEOUT,
    UserPromptSubmit: HOOK_TIMEOUT,
    PreToolUse: HOOK_TIMEOUT,
    PostToolUse: HOOK_TIMEOUT,
    PostToolUseFailure: HOOK_TIMEOUT,
    Notification: HOOK_TIMEOUT,
    SubagentStart: HOOK_TIMEOUT,
    SubagentStop: HOOK_TIMEOUT,
    Stop: HOOK_TIMEOUT,
    SessionEnd: HOOK_TIMEOUT,
  },
  translate(payload) {
    const session_id = field(payload, "session_id") ?? field(payload, "sessionId");
    return retold(payload, { session_id });
  },
  promptOf: (prompt) => prompt,
  questionOf,
};
