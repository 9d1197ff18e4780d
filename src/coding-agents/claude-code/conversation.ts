/**
 * The end of a conversation that Claude Code wrote down, for versions that keep no state of their
 * processes: one JSON object a line, the newest last. Three kinds of entries end what hooks leave
 * open: a turn that was interrupted, one that failed, and the result of a tool.
 */
import type { Presence } from "../hooks/presence.ts";
import { TEXT } from "../hooks/limits.ts";
import { field, parseJson, wordOf } from "../../core/text.ts";

export function presenceAtEnd(lines: readonly string[]): Presence | undefined {
  for (const line of lines.toReversed()) {
    const presence = presenceOf(line);
    if (presence) return presence;
  }
  return undefined;
}

function presenceOf(line: string): Presence | undefined {
  const entry = parseJson(line);
  const sinceMs = Date.parse(String(field(entry, "timestamp")));
  if (Number.isNaN(sinceMs) || field(entry, "isSidechain") === true) return undefined;
  const content = field(field(entry, "message"), "content");
  const parts = Array.isArray(content) ? (content as unknown[]) : [{ text: content }];
  const texts = parts.map((part) => wordOf(field(part, "text"), TEXT.summaryLength) ?? "");
  switch (field(entry, "type")) {
    case "assistant": {
      const isError = field(entry, "isApiErrorMessage") === true;
      const failure = texts.join(" ");
      return isError ? { state: "failed", sinceMs, isEvent: true, failure } : undefined;
    }
    case "user": {
      if (texts.some((text) => text.startsWith("[Request interrupted by user"))) {
        return { state: "idle", sinceMs, isEvent: true };
      }
      const isResult = parts.some((part) => field(part, "type") === "tool_result");
      return isResult ? { state: "busy", sinceMs, isEvent: true } : undefined;
    }
    default:
      return undefined;
  }
}
