/**
 * `rollcall at TIME COMMAND`: the past. The words are turned into `COMMAND --at TIME` before the
 * parser sees them (words.ts); what arrives here could not be.
 */
import { buildCommand } from "@stricli/core";
import { invalidArgument } from "../../core/errors.ts";
import type { Context } from "../context.ts";
import { about } from "../help.ts";
import { parseMoment } from "../moments.ts";
import { PAST_COMMANDS } from "../words.ts";

export const at = buildCommand<object, string[], Context>({
  docs: about(
    `Show ${PAST_COMMANDS.join(", ")} as they were at a moment of the past, as far as the log ` +
      "reaches back. A time of day is the last time that it was so, by the local clock.",
    { call: "rollcall at 14:03 ls", does: "the fleet at that time" },
    { call: "rollcall at yesterday 14:03 inbox", does: "questions that were open then" },
    { call: "rollcall at 10m ago explain claude", does: "the evidence at that time" },
    { call: "rollcall at 14:03 jobs --status running", does: "jobs that ran then" },
    { call: "rollcall at 2026-06-20T16:04:05Z ls --json", does: "for programs" },
  ),
  parameters: {
    positional: {
      kind: "array",
      parameter: { parse: String, placeholder: "TIME COMMAND", brief: "A time, then a command" },
    },
  },
  func(_flags, ...words) {
    throw invalidArgument(complaint(words));
  },
});

function complaint(words: readonly string[]): string {
  const lengths = words.map((_, i) => i + 1);
  const time = lengths.findLast((length) => isTime(words.slice(0, length))) ?? 0;
  const command = words[time];
  if (time === 0) return "say when, and what to look at: rollcall at 14:03 ls";
  if (command === undefined) return `say what to look at: rollcall at ${words.join(" ")} ls`;
  return `${command} cannot be looked at as it was: only ${PAST_COMMANDS.join(", ")} can`;
}

function isTime(words: readonly string[]): boolean {
  try {
    parseMoment(words.join(" "));
    return true;
  } catch {
    return false;
  }
}
