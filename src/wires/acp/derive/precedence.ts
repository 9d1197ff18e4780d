/**
 * The one table that says what a session does: the first row that fits, from what a person must
 * know to what is merely so. The numbers are those of the specification.
 *
 *    2  a load is not answered          as before
 *    3  a question is open              waiting
 *    4  v2 says requires_action         waiting
 *       a child waits                   waiting
 *    5  the agent says it itself        as said
 *    6  a tool call is open             by its kind
 *    7  the client serves files or …    by the method
 *    8  the context is compacted        thinking
 *    9  a turn is open                  thinking
 *   10  work goes on without a prompt   thinking, in the background
 *   11  v2 says something unknown       thinking
 *   12  otherwise                       idle
 *
 * Rows 0 and 1 (the agent is gone, the agent starts) are about the connection: `deriver.ts`.
 */
import { MEMORY, SHOWN, type QuietSituation } from "./limits.ts";
import { currentTask } from "./plans.ts";
import {
  foregroundTools,
  hasBackground,
  hasTurn,
  isInBackground,
  type AcpSession,
} from "./session.ts";
import type { AcpSource, AcpState, AcpStatus } from "./record.ts";
import type { OpenRequest } from "./requests.ts";
import { cut } from "./shown.ts";
import { kindOf, leadingTool, toolMessage, withMore } from "./tools.ts";

export interface DerivedStatus {
  readonly state: AcpState;
  readonly status: AcpStatus;
  readonly message: string | null;
  readonly currentTask: string | null;
  readonly source: AcpSource;
  readonly background: boolean;
  /** How long silence is normal; nothing where nobody is expected to speak. */
  readonly quiet: QuietSituation | undefined;
}

type StatusRow = Pick<DerivedStatus, "status" | "message"> &
  Partial<Pick<DerivedStatus, "state" | "source" | "currentTask" | "quiet">>;

export type AcpSessions = ReadonlyMap<string, AcpSession>;

export function deriveStatus(
  session: AcpSession,
  sessions: AcpSessions,
  generation = 0,
): DerivedStatus {
  const children = childrenOf(session, sessions, generation);
  const runningChildren = children.filter(({ isRunning }) => isRunning).length;
  const row = rowOf(session, children);
  const isIdle = row.status === "idle";
  return {
    state: row.state ?? stateOf(row.status),
    status: row.status,
    message: withChildren(row, runningChildren),
    currentTask: isIdle ? null : (row.currentTask ?? currentTask(session.plans)),
    source: row.source ?? "derived",
    background: hasBackground(session) || (isIdle && runningChildren > 0),
    quiet: row.quiet,
  };
}

function stateOf(status: AcpStatus): AcpState {
  return status === "waiting" || status === "idle" ? status : "running";
}

function rowOf(session: AcpSession, children: readonly ChildState[]): StatusRow {
  return (
    loading(session) ??
    asking(session) ??
    requiresAction(session) ??
    childAsking(children) ??
    saying(session) ??
    callingTools(session) ??
    usingClient(session) ??
    compacting(session) ??
    working(session) ??
    resting(session)
  );
}

function loading({ loads, frozen }: AcpSession): StatusRow | undefined {
  if (loads.size === 0) return undefined;
  return { status: "idle", ...frozen, message: "Loading history", quiet: "open" };
}

function asking({ asks }: AcpSession): StatusRow | undefined {
  const [first] = asks.values();
  if (first?.ask === undefined) return undefined;
  return {
    status: "waiting",
    message: withMore(cut(first.ask.text, SHOWN.message), asks.size - 1),
    quiet: "waiting",
  };
}

function requiresAction({ runState }: AcpSession): StatusRow | undefined {
  if (runState !== "requires_action") return undefined;
  return { status: "waiting", message: "Input needed", source: "state_update", quiet: "waiting" };
}

function childAsking(children: readonly ChildState[]): StatusRow | undefined {
  const child = children.find(({ isWaiting }) => isWaiting);
  if (child === undefined) return undefined;
  const message = cut(`Subagent ${child.name}: ${child.message ?? "Input needed"}`, SHOWN.message);
  return { status: "waiting", message, quiet: "waiting" };
}

const WORDS: Readonly<Record<AcpStatus, string | null>> = {
  thinking: "Thinking",
  reading: "Reading",
  writing: "Writing",
  waiting: "Waiting",
  idle: null,
};

const SAID_QUIET: Readonly<Record<AcpStatus, QuietSituation | undefined>> = {
  thinking: "thinking",
  reading: "read",
  writing: "edit",
  waiting: "waiting",
  idle: undefined,
};

function saying(session: AcpSession): StatusRow | undefined {
  const { said } = session;
  if (said === undefined || !hasTurn(session)) return undefined;
  const { status, source } = said;
  return {
    status,
    source,
    message: said.message ?? WORDS[status],
    currentTask: said.currentTask,
    quiet: callingTools(session)?.quiet ?? SAID_QUIET[status],
  };
}

function callingTools(session: AcpSession): StatusRow | undefined {
  const open = foregroundTools(session);
  const leading = leadingTool(open);
  if (leading === undefined) return undefined;
  const situations = open.map((tool) => kindOf(tool).quiet);
  return {
    status: kindOf(leading).status,
    message: withMore(toolMessage(leading), open.length - 1),
    quiet: session.isCancelled ? "cancel" : mostPatient(situations),
  };
}

/** Two things at once may be as quiet as the quieter of them. */
function mostPatient(situations: readonly QuietSituation[]): QuietSituation {
  return PATIENCE.find((situation) => situations.includes(situation)) ?? "thinking";
}

const PATIENCE: readonly QuietSituation[] = ["execute", "read", "edit"];

interface ClientService {
  readonly status: AcpStatus;
  readonly verb: string;
  readonly quiet: QuietSituation;
}

const SERVED: ReadonlyMap<string, ClientService> = new Map([
  ["fs/read_text_file", { status: "reading", verb: "Reading", quiet: "read" }],
  ["terminal/output", { status: "reading", verb: "Reading output of", quiet: "execute" }],
  ["fs/write_text_file", { status: "writing", verb: "Writing", quiet: "edit" }],
  ["terminal/create", { status: "writing", verb: "Running", quiet: "execute" }],
  ["terminal/wait_for_exit", { status: "writing", verb: "Running", quiet: "execute" }],
]);

export function isServed(method: string): boolean {
  return SERVED.has(method);
}

/** Only where no tool call is open: an agent that writes by the client would count twice. */
function usingClient({ io, isCancelled }: AcpSession): StatusRow | undefined {
  const last: OpenRequest | undefined = [...io.values()].at(-1);
  const served = last === undefined ? undefined : SERVED.get(last.method);
  if (served === undefined) return undefined;
  return {
    status: served.status,
    message: `${served.verb} ${last?.detail ?? "a command"}`,
    quiet: isCancelled ? "cancel" : served.quiet,
  };
}

function compacting({ compactions }: AcpSession): StatusRow | undefined {
  if (compactions.size === 0) return undefined;
  return { status: "thinking", message: "Compacting context", quiet: "thinking" };
}

/** Rows 9 to 11 differ in what is said, and in the flag. */
function working(session: AcpSession): StatusRow | undefined {
  if (!hasTurn(session) && !isInBackground(session)) return undefined;
  if (session.isCancelled) return { status: "thinking", message: "Cancelling", quiet: "cancel" };
  const doing = session.lastChunk === "text" ? "Responding" : "Thinking";
  const isUnknown = session.runState === "unknown" && session.prompts.size === 0;
  return {
    status: "thinking",
    message: session.retry ?? (isUnknown ? "Working" : doing),
    source: isUnknown || session.runState === "running" ? "state_update" : "derived",
    quiet: "thinking",
  };
}

const ENDINGS: ReadonlyMap<string, string> = new Map([
  ["end_turn", "Done"],
  ["cancelled", "Cancelled"],
  ["refusal", "Refused"],
  ["max_tokens", "Token limit"],
  ["max_turn_requests", "Turn limit"],
]);

function resting({ stopReason, error, runState }: AcpSession): StatusRow {
  const source = runState === "idle" ? "state_update" : "derived";
  if (error !== null)
    return { status: "idle", message: cut(`Error: ${error}`, SHOWN.message), source };
  if (stopReason === null) return { status: "idle", message: null, source };
  return { status: "idle", message: ENDINGS.get(stopReason) ?? `Stopped: ${stopReason}`, source };
}

interface ChildState {
  readonly name: string;
  readonly message: string | null;
  readonly isWaiting: boolean;
  readonly isRunning: boolean;
}

function childrenOf(
  session: AcpSession,
  sessions: AcpSessions,
  generation: number,
): readonly ChildState[] {
  if (session.children.size === 0 || generation >= MEMORY.generations) return [];
  return [...session.children].flatMap((id) => {
    const child = sessions.get(id);
    if (child === undefined) return [];
    const { status, message } = deriveStatus(child, sessions, generation + 1);
    const isWaiting = status === "waiting";
    const isRunning = !isWaiting && status !== "idle";
    return { name: child.title ?? "session", message, isWaiting, isRunning };
  });
}

function withChildren({ status, message }: StatusRow, running: number): string | null {
  if (running === 0 || status === "waiting") return message;
  const count = running === 1 ? "1 subagent running" : `${running} subagents running`;
  if (message === null || status === "idle") return count;
  return `${cut(message, SHOWN.message - count.length - 3)} · ${count}`;
}
