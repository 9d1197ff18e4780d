/**
 * The state of one session, folded from the facts of its hooks.
 *
 *              UserPromptSubmit, PreToolUse, PermissionRequest
 *   at rest ─────────────────────────────────────────────────▶ in a turn: working, or waiting
 *      ▲                                                          │    │      for an answer
 *      └──────────────── Stop, SessionStart ──────────────────────┘    │ SessionEnd,
 *                                                                      ▼ the host is gone
 *                 (any of the first kind, or SessionStart, brings it back)   ended
 *
 * A PostToolUse never begins anything: after a Stop it is only a late word about the turn before.
 * Nor does it answer a question that was asked for another tool.
 */
import type { Fact, HookHost } from "./fact.ts";
import { TEXT } from "./limits.ts";
import type { Question } from "./question.ts";
import { oneLine } from "../../core/text.ts";
import type { TaskState } from "../../wires/files/format.ts";

export interface Task {
  readonly state: TaskState;
  readonly summary?: string;
  /** Since when it is so. */
  readonly sinceMs: number;
}

export interface Session {
  readonly host: HookHost;
  readonly sessionId: string;
  readonly isOver: boolean;
  /** Whether the last turn came to its end. */
  readonly isAtRest: boolean;
  /** How it was begun last: startup, resume, clear, compact. */
  readonly source?: string;
  readonly goal?: { readonly summary: string; readonly atMs: number };
  /** The prompt of this turn. */
  readonly prompt?: string;
  readonly task?: Task;
  readonly question?: Question;
  /** Of the tool call that the question is about. */
  readonly toolUseId?: string;
  readonly activityMs: number;
  readonly workspace?: string;
  readonly model?: string;
  readonly permissionMode?: string;
  readonly process?: Fact["process"];
  readonly tmux?: Fact["tmux"];
  readonly rollcallAgentId?: string;
}

export function newSession(host: HookHost, sessionId: string): Session {
  return { host, sessionId, isOver: true, isAtRest: false, activityMs: 0 };
}

export function fold(session: Session, fact: Fact): Session {
  if (fact.event === "HostGone") {
    // Unless it goes on in another process by now.
    const isSame =
      session.process?.pid === fact.process?.pid && session.process?.start === fact.process?.start;
    return isSame ? ended(session) : session;
  }
  const known = withCircumstances(session, fact);
  switch (fact.event) {
    case "SessionStart":
      return started(known, fact);
    case "UserPromptSubmit":
      return prompted(known, fact);
    case "PreToolUse":
    case "PermissionRequest":
      return fact.question ? asking(opened(known), fact) : working(opened(known), fact);
    case "PostToolUse":
      return known.isOver || known.isAtRest || isOfAnother(known, fact)
        ? known
        : working(known, fact);
    case "Stop":
      return known.isOver ? known : stopped(known, fact);
    case "SessionEnd":
      return ended(known);
  }
}

/** Where it works is where it began: agents change their folder all the time. */
function withCircumstances(session: Session, fact: Fact): Session {
  const isStart = fact.event === "SessionStart";
  const { model, permissionMode, process, tmux, rollcallAgentId } = fact;
  const workspace = isStart ? fact.workspace : (session.workspace ?? fact.workspace);
  return {
    ...session,
    activityMs: Math.max(session.activityMs, fact.atMs),
    ...(model !== undefined && { model }),
    ...(permissionMode !== undefined && { permissionMode }),
    ...(process && { process }),
    ...(tmux && { tmux }),
    ...(rollcallAgentId !== undefined && { rollcallAgentId }),
    ...(workspace !== undefined && { workspace }),
  };
}

function started(session: Session, { source }: Fact): Session {
  const { goal, prompt: _prompt, source: _before, ...rest } = withoutTask(session);
  return {
    ...rest,
    isOver: false,
    isAtRest: false,
    ...(source !== undefined && { source }),
    ...(goal && source !== "clear" && { goal }),
  };
}

function prompted(session: Session, fact: Fact): Session {
  const { prompt: _old, ...rest } = session;
  const { prompt } = fact;
  const goal =
    session.goal ?? (prompt === undefined ? undefined : { summary: prompt, atMs: fact.atMs });
  const next = opened({
    ...rest,
    ...(prompt !== undefined && { prompt }),
    ...(goal && { goal }),
  });
  return working(next, fact);
}

function opened(session: Session): Session {
  return { ...session, isOver: false, isAtRest: false };
}

function working(session: Session, { atMs }: Fact): Session {
  const { question: _answered, toolUseId: _call, ...rest } = session;
  return withTask(rest, "working", { summary: session.prompt, atMs });
}

function asking(session: Session, fact: Fact): Session {
  const { toolUseId: _call, ...rest } = session;
  const { question, toolUseId, atMs } = fact;
  return {
    ...withTask(rest, "input-required", { summary: shortOf(question), atMs }),
    ...(question && { question }),
    ...(toolUseId !== undefined && { toolUseId }),
  };
}

function shortOf(question: Question | undefined): string | undefined {
  return question && oneLine(question.text, TEXT.summaryLength);
}

function stopped(session: Session, fact: Fact): Session {
  const rest = { ...withoutTask(session), isAtRest: true };
  if (fact.question) return asking(rest, fact);
  if (!fact.hasBackground) return rest;
  return withTask(rest, "submitted", { summary: session.prompt, atMs: fact.atMs });
}

function ended(session: Session): Session {
  return { ...withoutTask(session), isOver: true };
}

function withoutTask(session: Session): Session {
  const { task: _task, question: _question, toolUseId: _call, ...rest } = session;
  return rest;
}

interface Doing {
  readonly summary: string | undefined;
  readonly atMs: number;
}

/** The same task keeps its start time. */
function withTask(session: Session, state: TaskState, { summary, atMs }: Doing): Session {
  const { task } = session;
  if (task?.state === state && task.summary === summary) return session;
  return { ...session, task: { state, sinceMs: atMs, ...(summary !== undefined && { summary }) } };
}

/** Whether a question is open that this tool call has nothing to do with. */
function isOfAnother({ question, toolUseId }: Session, fact: Fact): boolean {
  if (!question?.tool) return false;
  if (toolUseId !== undefined && fact.toolUseId !== undefined) return toolUseId !== fact.toolUseId;
  return question.tool !== fact.tool;
}
