/**
 * The end of a conversation that Codex wrote down: one JSON object a line, the newest last. It says
 * how the last turn ended, also where no hook does: a turn that failed has its error there.
 */
import { PAYLOAD, TEXT } from "../hooks/limits.ts";
import type { Presence } from "../hooks/presence.ts";
import { field, parseJson, wordOf } from "../../core/text.ts";

/** Nothing while a turn goes on. */
export function endOfLastTurn(lines: readonly string[]): Presence | undefined {
  for (const line of lines.toReversed()) {
    const entry = parseJson(line);
    const payload = field(entry, "payload");
    const sinceMs = Date.parse(String(field(entry, "timestamp")));
    switch (field(payload, "type")) {
      case "task_started":
        return undefined;
      case "turn_aborted":
        return { state: "idle", sinceMs, isEvent: true };
      case "task_complete": {
        const failure = reasonOf(field(payload, "error"));
        if (failure === undefined) return { state: "idle", sinceMs, isEvent: true };
        return { state: "failed", sinceMs, isEvent: true, failure };
      }
    }
  }
  return undefined;
}

/** Its message may be the whole answer of the model's server. */
function reasonOf(error: unknown): string | undefined {
  const message = field(error, "message");
  if (typeof message !== "string") return undefined;
  const inner = field(
    field(parseJson(message.slice(0, PAYLOAD.messageLength)), "error"),
    "message",
  );
  return wordOf(inner ?? message, TEXT.summaryLength);
}
