/**
 * The end of a conversation that Gemini CLI wrote down, one JSON object a line. Two kinds of
 * entries end what its hooks leave open: that the person cancelled the request, and that the model
 * failed. After the first it writes the whole history anew, in the same moment; an entry that is
 * younger belongs to the next turn.
 */
import { field, parseJson, wordOf } from "../../core/text.ts";
import { TEXT } from "../hooks/limits.ts";
import type { Presence } from "../hooks/presence.ts";

/** How long it writes at the end of a turn. */
const SAME_MOMENT_MS = 500;

export function presenceAtEnd(lines: readonly string[]): Presence | undefined {
  const entries = lines.flatMap(entryOf);
  const ending = entries.findLast(({ presence }) => presence)?.presence;
  if (!ending) return undefined;
  const isPast = entries.some(({ atMs }) => atMs > ending.sinceMs + SAME_MOMENT_MS);
  return isPast ? undefined : ending;
}

interface Entry {
  readonly atMs: number;
  readonly presence?: Presence;
}

function entryOf(line: string): readonly Entry[] {
  const entry = parseJson(line);
  const atMs = Date.parse(String(field(entry, "timestamp")));
  if (Number.isNaN(atMs)) return [];
  const content = wordOf(field(entry, "content"), TEXT.summaryLength);
  switch (field(entry, "type")) {
    case "error":
      return [{ atMs, presence: { state: "failed", sinceMs: atMs, failure: reasonIn(content) } }];
    case "info":
      return content === "Request cancelled."
        ? [{ atMs, presence: { state: "idle", sinceMs: atMs } }]
        : [];
    default:
      return [{ atMs }];
  }
}

/** `[API Error: {"error":{"message":"…"}}]` */
function reasonIn(content = "the model failed"): string {
  return /"message":"(?<text>[^"]+)"/u.exec(content)?.groups?.["text"] ?? content;
}
