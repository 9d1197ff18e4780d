/**
 * Copilot CLI's hooks. Asked for by the names of Claude Code's it speaks nearly as that does. Its
 * PermissionRequest comes before its own rules are asked, so also for what they allow; that a
 * person is asked is a notification, with the command. Its SubagentStart does not say what it is.
 *
 * A subagent calls itself by an id of its own, and names the session as its parent. What an answer
 * ended with no hook tells: see events.ts.
 */
import { field } from "../../core/text.ts";
import { HOOK_TIMEOUT, retold, type HookDialect } from "../hooks/dialect.ts";
import { questionOf } from "../hooks/question.ts";
import { formOf } from "./form.ts";

export const copilotDialect: HookDialect = {
  events: {
    SessionStart: HOOK_TIMEOUT,
    UserPromptSubmit: HOOK_TIMEOUT,
    PreToolUse: HOOK_TIMEOUT,
    PostToolUse: HOOK_TIMEOUT,
    PostToolUseFailure: HOOK_TIMEOUT,
    Notification: HOOK_TIMEOUT,
    SubagentStop: HOOK_TIMEOUT,
    Stop: HOOK_TIMEOUT,
    SessionEnd: HOOK_TIMEOUT,
  },
  translate(payload) {
    const keys = ["parent_agent_id", "session_id", "sessionId"];
    const session_id = keys.map((key) => field(payload, key)).find((id) => id !== undefined);
    return retold(payload, { session_id });
  },
  promptOf: (prompt) => prompt,
  questionOf: (tool, input) => {
    const form = formOf(input);
    return form ? { ...form, tool } : questionOf(tool, input);
  },
};
