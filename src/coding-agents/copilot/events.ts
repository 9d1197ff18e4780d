/**
 * The events of a session that Copilot CLI writes down, one JSON object a line. They tell what its
 * hooks do not: that a permission was given, and that a turn was interrupted or failed.
 *
 *   permission.requested ──▶ waiting ──permission.completed──▶ busy
 *   abort ──▶ idle            session.error ──▶ failed         assistant.turn_start ──▶ busy
 */
import { field, parseJson, wordOf } from "../../core/text.ts";
import { TEXT } from "../hooks/limits.ts";
import type { Presence } from "../hooks/presence.ts";

export function presenceAtEnd(lines: readonly string[]): Presence | undefined {
  let isOver = false;
  for (const line of lines.toReversed()) {
    const presence = presenceOf(line);
    if (presence === "over") isOver = true;
    else if (presence) return isOver && !isEnding(presence) ? undefined : presence;
  }
  return undefined;
}

/** A turn that was interrupted has its end written down too, before or after. */
function isEnding({ state }: Presence): boolean {
  return state === "idle" || state === "failed";
}

/** "over" where the hooks know better: the turn has come to its own end. */
function presenceOf(line: string): Presence | "over" | undefined {
  const event = parseJson(line);
  const sinceMs = Date.parse(String(field(event, "timestamp")));
  if (Number.isNaN(sinceMs)) return undefined;
  const data = field(event, "data");
  switch (field(event, "type")) {
    case "permission.requested": {
      const request = field(data, "permissionRequest");
      const command = wordOf(field(request, "fullCommandText"), TEXT.questionLength);
      const kind = wordOf(field(request, "kind"), TEXT.optionLength) ?? "tool";
      const text = command === undefined ? `Allow ${kind}?` : `Run command: ${command}`;
      return { state: "waiting", sinceMs, question: { kind: "permission", text } };
    }
    case "permission.completed": {
      // Esc at the dialog interrupts the turn, which is written down a moment later.
      const isCancelled = field(field(data, "result"), "kind") === "cancelled";
      return { state: isCancelled ? "idle" : "busy", sinceMs };
    }
    case "assistant.turn_start":
      return { state: "busy", sinceMs };
    case "abort":
      return { state: "idle", sinceMs };
    case "session.error": {
      const failure = wordOf(field(data, "message"), TEXT.summaryLength) ?? "the model failed";
      return { state: "failed", sinceMs, failure };
    }
    case "assistant.turn_end":
      return "over";
    default:
      return undefined;
  }
}
