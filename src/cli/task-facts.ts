/** One task for people to read, what went in and came out included. */
import { shortDuration } from "../core/words.ts";
import type { TaskDetail } from "../wires/api/answers.ts";
import type { Style } from "./terminal/output.ts";
import type { FactRow } from "./terminal/table.ts";
import { momentText } from "./terminal/time.ts";

/** Its status is in that style. */
export function taskFacts(task: TaskDetail, style: Style): readonly FactRow[] {
  const nowMs = Date.now();
  const at = (atMs: number) => (atMs === 0 ? "" : momentText(atMs, nowMs));
  return [
    ["id", task.id],
    ["type", task.type],
    ["status", { text: task.status, style }],
    ["agent", `${task.claimedBy} ${task.claimedByName ?? ""}`.trim()],
    ["token", task.token === 0 ? "" : String(task.token)],
    ["claim ends", task.status === "claimed" ? at(task.expiresAtMs) : ""],
    ["created", at(task.createdAtMs)],
    ["claimed", at(task.claimedAtMs)],
    ["finished", at(task.finishedAtMs)],
    ["ttl", shortDuration(task.ttlMs)],
    ["retries", `${task.retryCount} of ${task.maxRetries}`],
    ["needs", task.requiredTools.join(", ")],
    ["last failure", task.failureReason],
    ["input", contentOf(task.input, task.inputText)],
    ["output", contentOf(task.output, task.outputText)],
  ];
}

/** As text, on one line and not without end; bytes by how many they are. */
function contentOf(base64: string, text: string | undefined): string {
  if (base64 === "") return "";
  const bytes = Buffer.byteLength(base64, "base64");
  if (text === undefined) return `${bytes} bytes; --json has them`;
  const shown = text.slice(0, LONGEST);
  return text.length > LONGEST ? `${shown}… (${bytes} bytes; --json has all)` : shown;
}

/** A paragraph: who wants all of it asks for JSON. */
const LONGEST = 2_000;
