/**
 * From the app-server's threads to the state of a session: pure. A session is a
 * thread of a person; its subagents are threads that have it as their parent, and their dialogs are
 * in its terminal. While one of them works, the session does.
 */
import type { Presence } from "../hooks/presence.ts";
import { field } from "../../core/text.ts";

export interface Thread {
  readonly state: "busy" | "waiting" | "idle" | "failed" | "closed" | "unknown";
  readonly sinceMs: number;
  readonly parent?: string;
}

export type Threads = ReadonlyMap<string, Thread>;

/** { type: active, activeFlags: [waitingOnApproval] }, idle, systemError, notLoaded. */
export function stateOf(status: unknown): Thread["state"] {
  const flags = field(status, "activeFlags");
  switch (field(status, "type")) {
    case "active":
      return Array.isArray(flags) && flags.length > 0 ? "waiting" : "busy";
    case "idle":
      return "idle";
    case "systemError":
      return "failed";
    case "notLoaded":
      return "closed";
    default:
      return "unknown";
  }
}

export function presenceOf(threads: Threads, id: string): Presence | undefined {
  const own = threads.get(id);
  if (!own || own.state === "unknown") return undefined;
  if (own.state === "closed") return { state: "gone", sinceMs: own.sinceMs };
  const family = [own, ...[...threads.values()].filter(({ parent }) => parent === id)];
  const sinceMs = Math.max(...family.map((thread) => thread.sinceMs));
  const isAny = (state: Thread["state"]) => family.some((thread) => thread.state === state);
  if (isAny("waiting")) return { state: "waiting", sinceMs, question: QUESTION };
  if (isAny("busy")) return { state: "busy", sinceMs };
  return { state: own.state === "failed" ? "failed" : "idle", sinceMs };
}

const QUESTION = { kind: "text", text: "it waits for you" } as const;
