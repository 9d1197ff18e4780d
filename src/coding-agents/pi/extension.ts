/**
 * The extension for Pi: its session is shown from its start to its shutdown.
 *
 *   session_start          idle
 *   before_agent_start     working, on the prompt
 *   ui_prompt_start/end    waits for an answer, and no more
 *   tool_execution_…       a sign of activity
 *   agent_end              no task
 *   session_shutdown       no longer shown
 *
 * A Pi that another agent runs says so in PI_SUBAGENT, and is not shown.
 */
import { complain } from "../hooks/complaints.ts";
import { HostSession } from "../hooks/host-session.ts";
import { TEXT } from "../hooks/limits.ts";
import type { Question } from "../hooks/question.ts";
import { field, wordOf } from "../../core/text.ts";

type Handler = (event: unknown, context: PiContext) => Promise<void> | void;

/** As much of Pi's API as is used here. */
export interface PiApi {
  on(event: string, handler: Handler): void;
}

export interface PiContext {
  readonly cwd?: string;
  readonly model?: { readonly provider?: string; readonly id?: string };
  readonly sessionManager?: { getSessionId?(): string };
}

const TOOL_EVENTS = ["tool_execution_start", "tool_execution_update", "tool_execution_end"];

export function rollcallExtension(pi: PiApi): void {
  if (process.env["PI_SUBAGENT"] === "1") return;
  let session: HostSession | undefined;
  let isWorking = false;
  const on = (event: string, handler: Handler) => pi.on(event, guarded(handler));

  on("session_start", async (_, { cwd, sessionManager }) => {
    await session?.close();
    const sessionId = sessionManager?.getSessionId?.() ?? `${process.pid}-${Date.now()}`;
    session = new HostSession({ host: "pi", sessionId, workspace: cwd });
  });
  on("before_agent_start", (event, { model }) => {
    isWorking = true;
    const prompt = field(event, "prompt");
    const name = [model?.provider, model?.id].filter(Boolean).join("/");
    session?.prompted(typeof prompt === "string" ? prompt : "", name || undefined);
  });
  for (const event of TOOL_EVENTS) on(event, () => session?.activity());
  on("ui_prompt_start", (event) => session?.asks("ui", questionOf(event)));
  on("ui_prompt_end", () => {
    if (isWorking) session?.answered("ui");
    else session?.rests();
  });
  on("agent_end", () => {
    isWorking = false;
    session?.rests();
  });
  on("session_shutdown", async () => {
    await session?.close();
    session = undefined;
  });
}

function guarded(handler: Handler): Handler {
  return async (event, context) => {
    try {
      await handler(event, context);
    } catch (error) {
      complain(error);
    }
  };
}

function questionOf(event: unknown): Question {
  const text = wordOf(field(event, "title"), TEXT.questionLength) ?? "it asks something";
  switch (field(event, "kind")) {
    case "confirm":
      return { kind: "permission", text };
    case "select":
      return { kind: "choice", text };
    default:
      return { kind: "text", text };
  }
}
