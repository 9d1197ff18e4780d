/** Codex's hooks. Their payloads are as fact.ts reads them; a permission has its reason. */
import type { HookDialect } from "../hooks/dialect.ts";
import { HOOK_TIMEOUT } from "../hooks/dialect.ts";
import { TEXT } from "../hooks/limits.ts";
import { questionOf } from "../hooks/question.ts";
import { field, wordOf } from "../../core/text.ts";

/** In seconds: all that it gives at the end of a turn or session; of more it warns. */
const LAST_TIMEOUT = 3;

export const codexDialect: HookDialect = {
  events: {
    SessionStart: HOOK_TIMEOUT,
    UserPromptSubmit: HOOK_TIMEOUT,
    PreToolUse: HOOK_TIMEOUT,
    PermissionRequest: HOOK_TIMEOUT,
    PostToolUse: HOOK_TIMEOUT,
    SubagentStart: HOOK_TIMEOUT,
    SubagentStop: HOOK_TIMEOUT,
    Stop: HOOK_TIMEOUT,
    Interrupt: LAST_TIMEOUT,
    SessionEnd: LAST_TIMEOUT,
  },
  isShared: (commandLine) => commandLine.includes("app-server"),
  promptOf: (prompt) => prompt,
  questionOf(tool, input) {
    const question = questionOf(tool, input);
    const reason = wordOf(field(input, "description"), TEXT.questionLength);
    if (question.kind !== "permission" || reason === undefined) return question;
    return { ...question, text: `${question.text} (${reason})` };
  },
};
