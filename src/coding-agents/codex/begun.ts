/** A thread that a terminal of Codex began, and where that terminal is. */
import type { Seat } from "../hooks/fact.ts";
import type { HookSession } from "../hooks/session.ts";
import type { Seating } from "../hooks/witness.ts";
import { field } from "../../core/text.ts";
import { announce } from "./announce.ts";
import type { AppServer } from "./app-server.ts";
import { seatOf, TERMINAL_TOOLS } from "./seat.ts";

/** In which terminal a thread is, or that it is in none; nothing where that is not said. */
export async function seatingIn(server: AppServer, threadId: string): Promise<Seating | undefined> {
  const asked = { threadId, serverName: TERMINAL_TOOLS, detail: "toolsAndAuthOnly" };
  const listed = await server.ask("mcpServerStatus/list", asked);
  if (listed === undefined) return undefined;
  const seat = seatOf(listed);
  return seat ? { seat } : {};
}

interface Begun {
  readonly thread: unknown;
  readonly atMs: number;
  readonly beside: Pick<HookSession, "host" | "process">;
}

/** Makes it a session, and says in which terminal; nothing where it is none of a person's. */
export async function welcome(server: AppServer, begun: Begun): Promise<Seat | undefined> {
  const { thread, atMs, beside } = begun;
  const [sessionId, parent] = [field(thread, "id"), field(thread, "parentThreadId")];
  // Titles are made in threads that nobody sees.
  const isPersons = field(thread, "ephemeral") !== true && typeof parent !== "string";
  if (typeof sessionId !== "string" || !isPersons) return undefined;
  const seat = (await seatingIn(server, sessionId))?.seat;
  if (seat) announce({ sessionId, workspace: field(thread, "cwd"), seat, beside, atMs });
  return seat;
}
