/**
 * The memory of one session. The rules that read it are in `precedence.ts`; here is what
 * opens and closes a turn.
 *
 *           prompt, running                      answer (v1), state idle (v2)
 *   idle ─────────────────────▶ turn open ─────────────────────────────────────▶ idle
 *     │                                                                            │
 *     └── chunks or tool calls without a prompt, later than 2 s ──▶ background ────┘
 *                                                                   30 s of silence
 */
import { field } from "../../../core/text.ts";
import { idText, listIn, textIn } from "./frames.ts";
import type { SaidStatus } from "./form.ts";
import { MEMORY, SHOWN, TURN, type QuietSituation } from "./limits.ts";
import type { Plans } from "./plans.ts";
import type { OpenRequest } from "./requests.ts";
import type { AcpRecord, AcpState, AcpStatus } from "./record.ts";
import { shownText } from "./shown.ts";
import { openTools, running, type AcpTool, type Tools } from "./tools.ts";

/** The run state of a session in ACP v2, or of a child by its parent; a new word is "unknown". */
export type RunState = "running" | "idle" | "requires_action" | "unknown";

export class AcpSession {
  readonly id: string;
  /** Open requests by their key. */
  readonly prompts = new Set<string>();
  /** The requests whose answer may have been missed. */
  readonly doubted = new Set<string>();
  readonly loads = new Set<string>();
  readonly asks = new Map<string, OpenRequest>();
  readonly io = new Map<string, OpenRequest>();
  readonly tools: Tools = new Map();
  readonly plans: Plans = new Map();
  readonly compactions = new Set<string>();
  /** Tasks of an agent's own making that outlive the turn. */
  readonly tasks = new Set<string>();
  readonly terminals = new Map<string, string>();
  readonly children = new Set<string>();
  /** Ids of tool calls that the agent declared to be in the background. */
  backgroundTools: ReadonlySet<string> = new Set();
  /** Other work that it declared: terminals and child sessions. */
  backgroundWork = 0;
  parentId: string | null = null;
  runState: RunState | undefined;
  /** v2: a prompt was sent and no state has followed yet. */
  awaitsState = false;
  lastChunk: "text" | "thought" | undefined;
  retry: string | null = null;
  said: SaidStatus | undefined;
  isCancelled = false;
  stopReason: string | null = null;
  error: string | null = null;
  /** Frames shortly after this are the tail of a turn. */
  endedAtMs = -Infinity;
  /** The last frame of work outside of a turn. */
  backgroundAtMs: number | undefined;
  /** When the silence began that is measured. */
  quietSinceMs: number;
  /** The status before a load, which stays until it is answered. */
  frozen: { readonly state: AcpState; readonly status: AcpStatus } | undefined;
  cwd: string | null = null;
  title: string | null = null;
  goal: string | null = null;
  record: AcpRecord | undefined;
  /** How its silence is judged, by the last derivation. */
  quiet: QuietSituation | undefined;

  constructor(id: string, nowMs: number) {
    this.id = id;
    this.quietSinceMs = nowMs;
  }
}

/** The foreground works, or should: a prompt is open, or the agent says so. */
export function hasTurn(session: AcpSession): boolean {
  if (session.prompts.size > 0 || session.awaitsState) return true;
  return session.runState !== undefined && session.runState !== "idle";
}

export function isInBackground(session: AcpSession): boolean {
  return session.backgroundAtMs !== undefined;
}

/** The calls that say what the agent does; none where it says itself that it is idle. */
export function foregroundTools(session: AcpSession): readonly AcpTool[] {
  if (!hasTurn(session) && !isInBackground(session)) return [];
  return openTools(session.tools, session.backgroundTools);
}

/** Something goes on that does not hold the session out of idle. */
export function hasBackground(session: AcpSession): boolean {
  if (isInBackground(session) || session.tasks.size > 0 || session.backgroundWork > 0) return true;
  return running(session.tools).length > foregroundTools(session).length;
}

export function beginTurn(session: AcpSession, prompt: unknown): void {
  session.said = undefined;
  session.isCancelled = false;
  session.lastChunk = undefined;
  session.retry = null;
  session.stopReason = null;
  session.error = null;
  if (session.backgroundAtMs !== undefined) session.tools.clear();
  session.backgroundAtMs = undefined;
  session.goal ??= shownText(promptText(prompt), SHOWN.goal);
}

/** Frames are missing: what was open may have ended in them. */
export function doubt(session: AcpSession): void {
  for (const key of session.prompts) session.doubted.add(key);
  for (const key of session.loads) session.doubted.add(key);
  session.asks.clear();
  session.io.clear();
  session.tools.clear();
  session.compactions.clear();
}

/** A prompt begins or ends: what was in doubt is over. */
export function settleDoubts(session: AcpSession): void {
  settleLoads(session);
  for (const key of session.doubted) session.prompts.delete(key);
  session.doubted.clear();
}

/** Only a turn asks for permissions: a load that was in doubt is over. */
export function settleLoads({ loads, doubted }: AcpSession): void {
  for (const key of doubted) loads.delete(key);
}

/** Agents leave calls open when they stop: only those declared to be in the background stay. */
export function endTurn(
  session: AcpSession,
  end: {
    readonly stopReason: string | null;
    readonly error?: string | null;
    readonly nowMs: number;
  },
): void {
  session.stopReason = end.stopReason;
  session.error = end.error ?? null;
  session.said = undefined;
  session.isCancelled = false;
  session.awaitsState = false;
  session.lastChunk = undefined;
  session.retry = null;
  session.compactions.clear();
  session.endedAtMs = end.nowMs;
  session.backgroundAtMs = undefined;
  dropTools(session);
}

function dropTools({ tools, backgroundTools }: AcpSession): void {
  for (const { id, status } of tools.values()) {
    if (!backgroundTools.has(id) && status !== "paused") tools.delete(id);
  }
}

/** Whether a frame of work counts, for which nobody asked: not if it is the tail of a turn. */
export function admitsWork(session: AcpSession, nowMs: number): boolean {
  if (hasTurn(session) || session.runState !== undefined) return true;
  if (nowMs - session.endedAtMs <= TURN.stragglerMs) return false;
  session.backgroundAtMs = nowMs;
  return true;
}

/** Work without a prompt has no end but silence, or that of its last call. */
export function backgroundEndsAtMs(session: AcpSession): number | undefined {
  if (session.backgroundAtMs === undefined || hasTurn(session)) return undefined;
  if (foregroundTools(session).length > 0) return undefined;
  return session.backgroundAtMs + TURN.backgroundQuietMs;
}

/** `state_update` of v2, and the state of a child as its parent tells it. */
export function setRunState(session: AcpSession, update: unknown, nowMs: number): void {
  const word = textIn(update, "state");
  if (word === undefined) return;
  const background = listIn(update, "background").slice(0, MEMORY.others);
  const tools = background.flatMap((work) => idText(work, "toolCallId") ?? []);
  session.backgroundTools = new Set(tools);
  session.backgroundWork = background.length - tools.length;
  session.awaitsState = false;
  const wasIdle = !hasTurn(session);
  switch (word) {
    case "idle":
      session.runState = "idle";
      // A repeated snapshot is no second ending.
      if (wasIdle && session.stopReason !== null) dropTools(session);
      else endTurn(session, { ...stopIn(update), nowMs });
      return;
    case "running":
    case "requires_action":
      session.runState = word;
      break;
    default:
      session.runState = "unknown";
  }
  session.stopReason = null;
  session.error = null;
}

function stopIn(update: unknown): {
  readonly stopReason: string | null;
  readonly error: string | null;
} {
  const stopReason = shownText(textIn(update, "stopReason"), SHOWN.name);
  if (stopReason !== "error") return { stopReason, error: null };
  return { stopReason, error: shownText(textIn(field(update, "error"), "message")) ?? "unknown" };
}

function promptText(prompt: unknown): string | undefined {
  if (!Array.isArray(prompt)) return undefined;
  const texts = prompt.slice(0, SHOWN.options).flatMap((block) => textIn(block, "text") ?? []);
  return texts.find((each) => each.trim() !== "");
}
