/**
 * The events of a session that Copilot CLI writes down, one JSON object a line. They tell what its
 * hooks do not: that a permission was given, that a turn was interrupted or failed, and the last
 * words of an answer. Read from the end, back to where the turn began:
 *
 *   a request without its end ──▶ waiting      abort, a request that was cancelled ──▶ idle
 *   session.error ──▶ failed                   words, then the turn's end ──▶ answered
 *                                              anything else in a turn ──▶ busy
 *
 * It may write a turn's end down seconds after the hook of that end has run. So that a turn began
 * contradicts no later hook, and whether it is over the hook tells: one turn may follow another.
 *
 * Of several that were asked for at once each has its own end. A subagent's turns are not those of
 * its session, but its requests are.
 */
import { field, parseJson, wordOf } from "../../core/text.ts";
import { TEXT } from "../hooks/limits.ts";
import type { Presence } from "../hooks/presence.ts";
import { questionAtEnd, type HookQuestion } from "../hooks/question.ts";
import { formOf } from "./form.ts";

interface CopilotEvent {
  readonly type: unknown;
  readonly data: unknown;
  readonly sinceMs: number;
}

export function presenceAtEnd(lines: readonly string[]): Presence | undefined {
  const ended = new Map<unknown, number>();
  let isOver = false;
  /** Since the last answer to a request it works. */
  let answered: Presence | undefined;
  /** Its own last words. */
  let words: Presence | undefined;
  for (const { type, data, sinceMs } of backwards(lines)) {
    switch (type) {
      case "abort":
        return { state: "idle", sinceMs };
      case "session.error": {
        const failure = wordOf(field(data, "message"), TEXT.summaryLength) ?? "the model failed";
        return { state: "failed", sinceMs, failure };
      }
      case "permission.completed":
        // Esc at the dialog interrupts the turn, which is written down a moment later.
        if (field(field(data, "result"), "kind") === "cancelled") return { state: "idle", sinceMs };
        ended.set(field(data, "requestId"), sinceMs);
        break;
      case "tool.execution_complete":
        ended.set(field(data, "toolCallId"), sinceMs);
        break;
      case "permission.requested":
      case "tool.execution_start": {
        const request = requestOf(type, data);
        if (!request) break;
        const endedMs = ended.get(request.id);
        if (endedMs !== undefined) answered ??= { state: "busy", sinceMs: endedMs };
        else if (!isOver) return { state: "waiting", sinceMs, question: request.question };
        break;
      }
      case "assistant.message":
        if (!isOfSubagent(data)) words ??= wordsOf(data, sinceMs);
        break;
      case "assistant.turn_end":
        if (!isOfSubagent(data)) isOver = true;
        break;
      case "assistant.turn_start":
        if (isOfSubagent(data)) break;
        return isOver ? words : (answered ?? { state: "busy", sinceMs, isEvent: true });
    }
  }
  return isOver ? words : answered;
}

function wordsOf(data: unknown, sinceMs: number): Presence {
  const question = questionAtEnd(field(data, "content"));
  return { state: "answered", sinceMs, ...(question && { question }) };
}

function* backwards(lines: readonly string[]): Iterable<CopilotEvent> {
  for (const line of lines.toReversed()) {
    const event = parseJson(line);
    const sinceMs = Date.parse(String(field(event, "timestamp")));
    if (Number.isNaN(sinceMs)) continue;
    yield { type: field(event, "type"), data: field(event, "data"), sinceMs };
  }
}

function isOfSubagent(data: unknown): boolean {
  return field(data, "parentToolCallId") !== undefined;
}

interface PersonRequest {
  readonly id: unknown;
  readonly question: HookQuestion;
}

/** The question to a person: a permission, or the form of a tool that asks. */
function requestOf(type: string, data: unknown): PersonRequest | undefined {
  if (type === "permission.requested") {
    const request = field(data, "permissionRequest");
    const [command, file] = ["fullCommandText", "fileName"].map((key) =>
      wordOf(field(request, key), TEXT.questionLength),
    );
    const kind = wordOf(field(request, "kind"), TEXT.optionLength) ?? "tool";
    const subject =
      command === undefined ? file && `Edit file: ${file}` : `Run command: ${command}`;
    const text = subject ?? `Allow ${kind}?`;
    return { id: field(data, "requestId"), question: { kind: "permission", text } };
  }
  const question = formOf(field(data, "arguments"));
  return field(data, "toolName") === "ask_user" && question
    ? { id: field(data, "toolCallId"), question }
    : undefined;
}
