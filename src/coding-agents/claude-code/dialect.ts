/**
 * Claude Code's hooks. Their payloads are as fact.ts reads them. It has more, of which nothing
 * follows for a status: of batches, compaction, tasks, files, folders and settings.
 */
import type { HookDialect } from "../hooks/dialect.ts";
import { questionOf } from "../hooks/question.ts";

/**
 * In seconds. It puts a line on the person's screen for each hook that takes longer, as Node may on
 * a machine that is very busy: 10 were too few there.
 */
const TIMEOUT = 30;

export const claudeCodeDialect: HookDialect = {
  events: {
    SessionStart: TIMEOUT,
    UserPromptSubmit: TIMEOUT,
    PreToolUse: TIMEOUT,
    PermissionRequest: TIMEOUT,
    PermissionDenied: TIMEOUT,
    PostToolUse: TIMEOUT,
    PostToolUseFailure: TIMEOUT,
    Notification: TIMEOUT,
    Elicitation: TIMEOUT,
    ElicitationResult: TIMEOUT,
    SubagentStart: TIMEOUT,
    SubagentStop: TIMEOUT,
    Stop: TIMEOUT,
    StopFailure: TIMEOUT,
    SessionEnd: TIMEOUT,
  },
  promptOf: (prompt) => (typeof prompt === "string" ? withoutMarkup(prompt) : undefined),
  questionOf,
};

/** It wakes itself with a prompt of its own, in which only the summary is meant for people. */
function withoutMarkup(prompt: string): string {
  const wakeUp = /^\s*<task-notification>(?<inner>[^]*?)<\/task-notification>/u.exec(prompt);
  if (!wakeUp) return prompt;
  return /<summary>(?<text>[^]*?)<\/summary>/u.exec(prompt)?.groups?.["text"] ?? "it woke up";
}
