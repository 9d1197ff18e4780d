/**
 * The state of one session, folded from the facts of its hooks and of what watches beside them.
 *
 *              UserPromptSubmit, PreToolUse, PermissionRequest, it is busy
 *   at rest ─────────────────────────────────────────────────▶ in a turn: working, or waiting
 *      ▲                                                          │    │      for an answer
 *      └── Stop, StopFailure, Interrupt, SessionStart, it idles ──┘    │ SessionEnd,
 *                                                                      ▼ the host is gone
 *                 (any of the first kind, or SessionStart, brings it back)   ended
 *
 * A PostToolUse never begins anything: after a Stop it is only a late word about the turn before.
 * Nor does it answer a question that was asked for another tool, or by a subagent. A subagent's
 * question is the session's: its dialog is in the same terminal, also when the turn is over.
 */
import type { Fact, HookHost, Seat } from "./fact.ts";
import { TEXT } from "./limits.ts";
import { isAskedByDialog } from "./presence.ts";
import { isAsking, type HookQuestion } from "./question.ts";
import { oneLine } from "../../core/text.ts";
import type { TaskState } from "../../wires/files/format.ts";

export interface HookTask {
  readonly state: TaskState;
  readonly summary?: string;
  /** Since when it is so. */
  readonly sinceMs: number;
}

export interface HookSession {
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
  /** When a prompt was heard of last. */
  readonly promptedMs?: number;
  readonly task?: HookTask;
  readonly question?: HookQuestion;
  /** Of the tool call that the question is about. */
  readonly toolUseId?: string;
  readonly subject?: number;
  /** The subagent that asks it. */
  readonly subagent?: string;
  /** A question that shows once the second source says that somebody is waited for. */
  readonly announced?: HookQuestion;
  /** How the turn ended by its hooks, while the second source says that it goes on. */
  readonly ending?: Pick<HookSession, "task" | "question">;
  readonly activityMs: number;
  /** The last event that a hook told. */
  readonly heard?: { readonly what: string; readonly atMs: number };
  readonly workspace?: string;
  readonly model?: string;
  readonly permissionMode?: string;
  readonly process?: Fact["process"];
  readonly tmux?: Fact["tmux"];
  readonly rollcallAgentId?: string;
  readonly conversation?: string;
  /** Whether a second source watches it, and in which terminal that says it is. */
  readonly isShared?: boolean;
  readonly isWitnessed?: boolean;
  readonly seat?: Seat;
}

export function newSession(host: HookHost, sessionId: string): HookSession {
  return { host, sessionId, isOver: true, isAtRest: false, activityMs: 0 };
}

export function fold(session: HookSession, fact: Fact): HookSession {
  if (fact.event === "HostGone") return isProcessOf(session, fact) ? ended(session) : session;
  if (fact.event === "Seated") return seated(session, fact);
  if (fact.subagent !== undefined) return withSubagent(active(session, fact), fact);
  const known = withCircumstances(session, fact);
  switch (fact.event) {
    case "SessionStart":
      return started(known, fact);
    case "UserPromptSubmit":
      return prompted(known, fact);
    case "PreToolUse":
      return beginning(opened(known), fact);
    case "PermissionRequest":
    case "Elicitation":
      return asking(opened(known), fact);
    case "Notification":
      if (fact.presence) return known.isOver ? known : present(known, fact);
      return known.isOver || known.question ? known : asking(opened(known), fact);
    case "PermissionDenied":
    case "PostToolUse":
    case "PostToolUseFailure":
    case "ElicitationResult":
      return known.isOver || known.isAtRest || isOfAnother(known, fact)
        ? known
        : working(known, fact);
    case "Stop":
      return known.isOver ? known : stopped(known, fact);
    case "StopFailure":
      return known.isOver ? known : failed(known, fact);
    case "Interrupt":
      return known.isOver ? known : resting(known);
    case "Presence":
      return known.isOver ? known : present(known, fact);
    case "SubagentStart":
    case "SubagentStop":
      return known;
    case "SessionEnd":
      return ended(known);
  }
}

/** Unless it goes on in another process by now. */
function isProcessOf({ process, seat }: HookSession, { process: gone }: Fact): boolean {
  const hosts = seat ? [process, seat.process] : [process];
  return hosts.some((host) => host?.pid === gone?.pid && host?.start === gone?.start);
}

/** Facts come in their order: a time that is earlier is one of a clock that was set back. */
function active(session: HookSession, { event, atMs }: Fact): HookSession {
  if (event === "Presence") return { ...session, activityMs: atMs };
  return { ...session, activityMs: atMs, heard: { what: event, atMs } };
}

function seated({ seat: _before, ...session }: HookSession, { seat }: Fact): HookSession {
  return { ...session, isWitnessed: true, ...(seat && { seat }) };
}

/** Only its questions concern the session. */
function withSubagent(session: HookSession, fact: Fact): HookSession {
  const { subagent = "" } = fact;
  switch (fact.event) {
    case "PermissionRequest":
      return { ...asking({ ...session, isOver: false }, fact), subagent };
    case "PermissionDenied":
    case "PostToolUse":
    case "PostToolUseFailure":
    case "SubagentStop":
      return session.subagent === subagent ? working(session, fact) : session;
    default:
      return session;
  }
}

/** The second source is believed. */
function present(session: HookSession, fact: Fact): HookSession {
  switch (fact.presence) {
    case "busy":
      return {
        ...working(opened(isTurnOver(session) ? withoutPrompt(session) : session), fact),
        ...unopened(session),
        ...endingOf(session),
      };
    case "waiting":
      if (isAskedByDialog(session)) return session;
      return asking(opened(session), { ...fact, ...announcedBy(session) });
    case "idle":
      return isAskedByDialog(session) || session.task?.state === "working"
        ? { ...resting(session), ...session.ending }
        : session;
    case "answered":
      return stopped(session, fact);
    case "failed":
      return failed(session, fact);
    case "gone":
      return ended(session);
    default:
      return session;
  }
}

/** A tool that asks is heard of before its dialog opens, which on a busy machine takes a while. */
function unopened({ question, announced }: HookSession): Partial<HookSession> {
  const next = question?.tool !== undefined && isAsking(question.tool) ? question : announced;
  return next ? { announced: next } : {};
}

/** A host is busy until the last hook at the end of its turn has run, which may take long. */
function endingOf(session: HookSession): Partial<HookSession> {
  const { task, question } = session;
  return task && isTurnOver(session) ? { ending: { task, ...(question && { question }) } } : {};
}

/** The next activity belongs to another turn than the last question. */
function isTurnOver(session: HookSession): boolean {
  return session.isAtRest && !isAskedByDialog(session);
}

function withoutPrompt({ prompt: _before, ...session }: HookSession): HookSession {
  return session;
}

function announcedBy({ announced }: HookSession): Partial<Fact> {
  return announced ? { question: announced } : {};
}

/** Where it works is where it began: agents change their folder all the time. */
function withCircumstances(session: HookSession, fact: Fact): HookSession {
  const isStart = fact.event === "SessionStart";
  const { model, permissionMode, process, tmux, rollcallAgentId, conversation, isShared } = fact;
  const workspace = isStart ? fact.workspace : (session.workspace ?? fact.workspace);
  // Some hosts run their last hooks from a helper, which ends at once and has no terminal.
  const isMoved = isStart || session.isOver || !session.process;
  return {
    ...active(session, fact),
    ...(model !== undefined && { model }),
    ...(permissionMode !== undefined && { permissionMode }),
    ...(process && isMoved && { process }),
    ...(tmux && isMoved && { tmux }),
    ...(rollcallAgentId !== undefined && { rollcallAgentId }),
    ...(workspace !== undefined && { workspace }),
    ...(conversation !== undefined && { conversation }),
    ...(isShared && { isShared }),
  };
}

function started(session: HookSession, { source }: Fact): HookSession {
  const { goal, prompt: _prompt, source: _before, ...rest } = withoutTask(session);
  return {
    ...rest,
    isOver: false,
    isAtRest: false,
    ...(source !== undefined && { source }),
    ...(goal && source !== "clear" && { goal }),
  };
}

function prompted(session: HookSession, fact: Fact): HookSession {
  const { prompt: before, ...rest } = session;
  // In the middle of a turn a prompt without words is none of a person's.
  const prompt = fact.prompt ?? (session.isAtRest ? undefined : before);
  const goal =
    session.goal ?? (prompt === undefined ? undefined : { summary: prompt, atMs: fact.atMs });
  const next = opened({
    ...rest,
    promptedMs: fact.atMs,
    ...(prompt !== undefined && { prompt }),
    ...(goal && { goal }),
  });
  return working(next, fact);
}

function opened(session: HookSession): HookSession {
  return { ...session, isOver: false, isAtRest: false };
}

/** A tool that asks is believed at once, unless a second source tells when it really does. */
function beginning(session: HookSession, fact: Fact): HookSession {
  if (session.subagent !== undefined) return session;
  if (!fact.question) return isBeside(session, fact) ? session : working(session, fact);
  if (!session.isWitnessed) return asking(session, fact);
  return { ...working(session, fact), announced: fact.question };
}

function working(session: HookSession, { atMs }: Fact): HookSession {
  return withTask(withoutQuestion(session), "working", { summary: session.prompt, atMs });
}

function asking(session: HookSession, fact: Fact): HookSession {
  const { question, toolUseId, subject, atMs } = fact;
  return {
    ...withTask(withoutQuestion(session), "input-required", { summary: shortOf(question), atMs }),
    ...(question && { question }),
    ...(toolUseId !== undefined && { toolUseId }),
    ...(subject !== undefined && { subject }),
  };
}

function shortOf(question: HookQuestion | undefined): string | undefined {
  return question && oneLine(question.text, TEXT.summaryLength);
}

function stopped(session: HookSession, fact: Fact): HookSession {
  if (session.subagent !== undefined) return { ...session, isAtRest: true };
  const rest = resting(session);
  if (fact.question) return asking(rest, fact);
  // The turn that failed is over: that says nothing of how.
  if (session.task?.state === "failed") return session;
  if (!fact.hasBackground) return rest;
  return withTask(rest, "submitted", { summary: session.prompt, atMs: fact.atMs });
}

function resting(session: HookSession): HookSession {
  return { ...withoutTask(session), isAtRest: true };
}

function failed(session: HookSession, { failure: summary = "it failed", atMs }: Fact): HookSession {
  return withTask(resting(session), "failed", { summary, atMs });
}

function ended(session: HookSession): HookSession {
  return { ...withoutTask(session), isOver: true };
}

function withoutTask(session: HookSession): HookSession {
  const { task: _task, ...rest } = withoutQuestion(session);
  return rest;
}

function withoutQuestion(session: HookSession): HookSession {
  const { question: _question, toolUseId: _call, subject: _subject, ...others } = session;
  const { subagent: _subagent, announced: _announced, ending: _ending, ...rest } = others;
  return rest;
}

interface TaskNews {
  readonly summary: string | undefined;
  readonly atMs: number;
}

/** The same task keeps its start time. */
function withTask(
  session: HookSession,
  state: TaskState,
  { summary, atMs }: TaskNews,
): HookSession {
  const { task } = session;
  if (task?.state === state && task.summary === summary) return session;
  return { ...session, task: { state, sinceMs: atMs, ...(summary !== undefined && { summary }) } };
}

/**
 * Whether it begins while a dialog is open for another call of the same answer. Where hooks alone
 * tell, it is the word that the dialog is over: the one about the answer may have been lost.
 */
function isBeside(session: HookSession, fact: Fact): boolean {
  const isDialogKnown = session.host === "claude-code" || session.isWitnessed === true;
  return isDialogKnown && isAskedByDialog(session) && isOfAnother(session, fact);
}

/** Whether a question is open that this tool call has nothing to do with. */
function isOfAnother(session: HookSession, fact: Fact): boolean {
  const { question, toolUseId, subject, subagent } = session;
  if (subagent !== undefined) return true;
  if (!question?.tool || fact.tool === undefined) return false;
  if (toolUseId !== undefined && fact.toolUseId !== undefined) return toolUseId !== fact.toolUseId;
  if (question.tool !== fact.tool) return true;
  return subject !== undefined && fact.subject !== undefined && subject !== fact.subject;
}
