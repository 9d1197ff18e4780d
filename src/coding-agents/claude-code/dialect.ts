/**
 * Claude Code's hooks. Their payloads are as fact.ts reads them. It has more, of which nothing
 * follows for a status: of batches, compaction, tasks, files, folders and settings.
 */
import type { HookDialect } from "../hooks/dialect.ts";
import { HOOK_TIMEOUT } from "../hooks/dialect.ts";
import { questionOf } from "../hooks/question.ts";

export const claudeCodeDialect: HookDialect = {
  events: {
    SessionStart: HOOK_TIMEOUT,
    UserPromptSubmit: HOOK_TIMEOUT,
    PreToolUse: HOOK_TIMEOUT,
    PermissionRequest: HOOK_TIMEOUT,
    PermissionDenied: HOOK_TIMEOUT,
    PostToolUse: HOOK_TIMEOUT,
    PostToolUseFailure: HOOK_TIMEOUT,
    Notification: HOOK_TIMEOUT,
    Elicitation: HOOK_TIMEOUT,
    ElicitationResult: HOOK_TIMEOUT,
    SubagentStart: HOOK_TIMEOUT,
    SubagentStop: HOOK_TIMEOUT,
    Stop: HOOK_TIMEOUT,
    StopFailure: HOOK_TIMEOUT,
    SessionEnd: HOOK_TIMEOUT,
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
