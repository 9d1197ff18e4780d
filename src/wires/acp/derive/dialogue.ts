/**
 * The effect of each frame of a connection on the memory: requests open and close something,
 * notifications change it. Which sessions were touched is noted; what follows from it is not
 * decided here but in `precedence.ts`.
 */
import { field } from "../../../core/text.ts";
import { elicitationIn, isRefused, permissionIn } from "./asks.ts";
import type { AcpConnection } from "./connection.ts";
import { said, STATUS_METHOD } from "./form.ts";
import {
  idText,
  numberIn,
  textIn,
  type AcpFrame,
  type FrameId,
  type FrameSender,
} from "./frames.ts";
import { MEMORY, SHOWN } from "./limits.ts";
import { remember } from "./memory.ts";
import { isServed } from "./precedence.ts";
import type { AcpRecord } from "./record.ts";
import { Requests, type OpenRequest } from "./requests.ts";
import type { Roster } from "./roster.ts";
import {
  beginTurn,
  endTurn,
  hasTurn,
  setRunState,
  settleDoubts,
  settleLoads,
  type AcpSession,
} from "./session.ts";
import { baseName, shownText } from "./shown.ts";
import { failTool } from "./tools.ts";
import { applyUpdate } from "./updates.ts";

type RequestFrame = Extract<AcpFrame, { kind: "request" }>;
type NotificationFrame = Extract<AcpFrame, { kind: "notification" }>;
type Answer = { readonly result: unknown } | { readonly error: unknown };

/** Codes of JSON-RPC errors that mean something here. */
const AUTH_REQUIRED = -32000;
const REQUEST_CANCELLED = -32800;

/** By these a client uses a session, and tries again what needed a sign-in. */
const OPENING: ReadonlySet<string> = new Set(["session/load", "session/resume", "session/prompt"]);

/** The standard's update about a child session, and the two by which Claude says the same. */
const ADOPTIONS: ReadonlySet<string> = new Set([
  "subagent_update",
  "subagent_spawned",
  "subagent_state_update",
]);

export class Dialogue {
  readonly #connection: AcpConnection;
  readonly #roster: Roster;
  readonly #requests = new Requests();
  readonly #readsTodos: boolean;
  /** Sessions that the client closed: what still comes of them does not open them again. */
  readonly #closed = new Map<string, true>();
  #touched = new Set<AcpSession>();
  #lastWords: AcpRecord[] = [];
  #order = 0;
  #nowMs = 0;

  constructor(connection: AcpConnection, roster: Roster, readsTodos: boolean) {
    this.#connection = connection;
    this.#roster = roster;
    this.#readsTodos = readsTodos;
  }

  take(sender: FrameSender, frame: AcpFrame, nowMs: number): void {
    this.#nowMs = nowMs;
    this.#order++;
    if (sender === "agent") this.#connection.quietSinceMs = nowMs;
    switch (frame.kind) {
      case "request":
        if (sender === "client") this.#clientAsks(frame);
        else this.#agentAsks(frame);
        return;
      case "notification":
        if (sender === "client") this.#clientTells(frame);
        else this.#agentTells(frame);
        return;
      case "result":
        return this.#answer(sender, frame.id, { result: frame.result });
      case "error":
        if (frame.id !== null) this.#answer(sender, frame.id, { error: frame.error });
    }
  }

  /** The sessions that changed since the last call, and what was last said of those that ended. */
  takeTouched(): {
    readonly sessions: readonly AcpSession[];
    readonly lastWords: readonly AcpRecord[];
  } {
    const touched = { sessions: [...this.#touched], lastWords: this.#lastWords };
    this.#touched = new Set();
    this.#lastWords = [];
    return touched;
  }

  /** Known or new. None if there are too many and all of them are busy. */
  #open(sessionId: string | undefined): AcpSession | undefined {
    if (sessionId === undefined) return undefined;
    const known = this.#roster.find(sessionId);
    if (known === undefined && this.#roster.isFull) {
      const old = this.#roster.dispensable();
      if (old === undefined) return undefined;
      this.#forget(old);
    }
    const session = known ?? this.#roster.add(sessionId, this.#nowMs);
    this.#touched.add(session);
    return session;
  }

  #heard(session: AcpSession | undefined): AcpSession | undefined {
    if (session !== undefined) this.#roster.heard(session, this.#nowMs);
    return session;
  }

  #forget(session: AcpSession): void {
    this.#touched.delete(session);
    this.#lastWords.push(this.#roster.forget(session, "Session closed", this.#nowMs));
  }

  #track(
    sender: FrameSender,
    id: FrameId,
    about: Omit<OpenRequest, "key" | "askedAtMs">,
  ): OpenRequest {
    const pending = { ...about, key: `${sender}-${this.#order}`, askedAtMs: this.#nowMs };
    const forgotten = this.#requests.add(sender, id, pending);
    if (forgotten !== undefined) this.#close(forgotten);
    return pending;
  }

  #clientAsks({ id, method, params }: RequestFrame): void {
    const sessionId = idText(params, "sessionId");
    const detail = method === "session/new" ? shownText(textIn(params, "cwd"), SHOWN.path) : null;
    const about = { method, sessionId, ...(detail === null ? {} : { detail }) };
    const pending = this.#track("client", id, about);
    if (sessionId !== undefined && OPENING.has(method)) {
      this.#closed.delete(sessionId);
      this.#connection.signedIn();
    }
    switch (method) {
      case "initialize":
        this.#connection.initializing(params);
        this.#connection.starts(pending);
        return;
      case "session/new":
        this.#connection.starts(pending);
        return;
      case "session/load":
      case "session/resume":
        return this.#load(this.#open(sessionId), pending, params);
      case "session/prompt":
        return this.#prompt(this.#open(sessionId), pending, params);
    }
  }

  #load(session: AcpSession | undefined, { key }: OpenRequest, params: unknown): void {
    if (session === undefined) return;
    session.cwd = shownText(textIn(params, "cwd"), SHOWN.path) ?? session.cwd;
    if (session.loads.size === 0) session.frozen = shownBefore(session);
    session.loads.add(key);
    session.quietSinceMs = this.#nowMs;
  }

  #prompt(session: AcpSession | undefined, { key }: OpenRequest, params: unknown): void {
    if (session === undefined) return;
    settleDoubts(session);
    beginTurn(session, field(params, "prompt"));
    session.quietSinceMs = this.#nowMs;
    if (this.#isV2) session.awaitsState = true;
    else session.prompts.add(key);
  }

  #agentAsks({ id, method, params }: RequestFrame): void {
    const session = this.#heard(this.#open(this.#scopeOf(params)));
    const sessionId = session?.id;
    switch (method) {
      case "session/request_permission":
        if (session !== undefined) {
          settleLoads(session);
          const ask = permissionIn(params, session.tools, this.#order);
          const pending = this.#track("agent", id, { method, sessionId, ask });
          session.asks.set(pending.key, pending);
        }
        return;
      case "elicitation/create": {
        const pending = this.#track("agent", id, { method, sessionId, ask: elicitationIn(params) });
        (session ?? this.#connection).asks.set(pending.key, pending);
        return;
      }
    }
    if (session === undefined || !isServed(method)) return;
    const detail = servedDetail(session, params);
    const pending = this.#track("agent", id, { method, sessionId, ...detail });
    session.io.set(pending.key, pending);
  }

  /** An elicitation may belong to a request instead of a session. */
  #scopeOf(params: unknown): string | undefined {
    const requestId = numberIn(params, "requestId") ?? idText(params, "requestId");
    const request = requestId === undefined ? undefined : this.#requests.find("client", requestId);
    return idText(params, "sessionId") ?? request?.sessionId;
  }

  #clientTells({ method, params }: NotificationFrame): void {
    if (method !== "session/cancel") return;
    const session = this.#roster.find(idText(params, "sessionId"));
    if (session === undefined || !hasTurn(session)) return;
    this.#touched.add(session);
    session.isCancelled = true;
    session.quietSinceMs = this.#nowMs;
  }

  #agentTells({ method, params }: NotificationFrame): void {
    const sessionId = idText(params, "sessionId");
    if (sessionId !== undefined && this.#closed.has(sessionId)) return;
    if (method === "session/update") {
      const session = this.#heard(this.#open(sessionId));
      if (session !== undefined) this.#update(session, params);
      return;
    }
    const session = this.#heard(this.#roster.find(sessionId));
    if (session === undefined) return;
    this.#touched.add(session);
    if (method !== STATUS_METHOD || !hasTurn(session) || session.loads.size > 0) return;
    session.said = said(params, "meta");
  }

  #update(session: AcpSession, params: unknown): void {
    const update = field(params, "update");
    if (ADOPTIONS.has(textIn(update, "sessionUpdate") ?? "")) {
      if (session.loads.size === 0) this.#adopt(session, update);
      return;
    }
    applyUpdate(session, params, {
      nowMs: this.#nowMs,
      order: this.#order,
      hasStates: this.#connection.facts.protocolVersion !== 1,
      readsTodos: this.#readsTodos,
    });
  }

  /** A session belongs to the parent that first named it, for good. */
  #adopt(parent: AcpSession, update: unknown): void {
    const child = this.#open(idText(update, "sessionId"));
    if (child === undefined || child === parent) return;
    if (child.parentId !== null && child.parentId !== parent.id) return;
    child.parentId = parent.id;
    child.cwd = shownText(textIn(update, "cwd"), SHOWN.path) ?? child.cwd ?? parent.cwd;
    child.title = shownText(textIn(update, "title"), SHOWN.name) ?? child.title;
    parent.children.add(child.id);
    const state = field(update, "state");
    if (state === null) child.runState = undefined;
    const snapshot = typeof state === "string" ? { state } : state;
    setRunState(child, snapshot, this.#nowMs);
  }

  #answer(sender: FrameSender, id: FrameId, answer: Answer): void {
    const pending = this.#requests.take(sender, id);
    if (pending === undefined) return;
    const session = this.#roster.find(pending.sessionId);
    if (session !== undefined) {
      this.#touched.add(session);
      this.#heard(session);
    }
    this.#close(pending);
    const isRefusal = "error" in answer;
    if (pending.ask !== undefined) {
      const isNo = isRefusal || isRefused(pending.ask, answer.result);
      if (isNo && session !== undefined) failTool(session.tools, pending.ask.toolCallId);
      return;
    }
    if (sender === "client") return rememberTerminal(session, pending, answer);
    if (isRefusal) this.#refused(pending, session, answer.error);
    else this.#succeeded(pending, session, answer.result);
  }

  #succeeded(pending: OpenRequest, session: AcpSession | undefined, result: unknown): void {
    switch (pending.method) {
      case "initialize":
        return this.#connection.initialized(result);
      case "authenticate":
      case "auth/login":
        return this.#connection.signedIn();
      case "session/new": {
        this.#connection.signedIn();
        const opened = this.#open(idText(result, "sessionId"));
        if (opened === undefined) return;
        this.#closed.delete(opened.id);
        opened.cwd = pending.detail ?? opened.cwd;
        opened.endedAtMs = this.#nowMs;
        return;
      }
      case "session/prompt":
        if (session !== undefined && !this.#isV2) this.#prompted(session, result);
        return;
      case "session/load":
      case "session/resume":
        if (session !== undefined) session.endedAtMs = this.#nowMs;
        return;
      case "session/close":
      case "session/delete":
        if (session === undefined) return;
        this.#forget(session);
        remember(this.#closed, { key: session.id, value: true, most: MEMORY.others });
    }
  }

  /** In v1 the answer ends the turn. Of an unknown version, an answer without a reason is v2's. */
  #prompted(session: AcpSession, result: unknown): void {
    if (session.prompts.size > 0) return;
    const stopReason = shownText(textIn(result, "stopReason"), SHOWN.name);
    if (stopReason === null && this.#connection.facts.protocolVersion === null) {
      session.awaitsState = session.runState === undefined;
      return;
    }
    endTurn(session, { stopReason, nowMs: this.#nowMs });
  }

  #refused(pending: OpenRequest, session: AcpSession | undefined, error: unknown): void {
    const code = numberIn(error, "code");
    if (code === AUTH_REQUIRED) this.#connection.needsSignIn(this.#nowMs);
    if (session === undefined) return;
    switch (pending.method) {
      case "session/load":
      case "session/resume":
        if (session.frozen === undefined && session.loads.size === 0) this.#forget(session);
        return;
      case "session/prompt": {
        session.awaitsState = false;
        if (hasTurn(session)) return;
        if (code === REQUEST_CANCELLED) {
          endTurn(session, { stopReason: "cancelled", nowMs: this.#nowMs });
          return;
        }
        const message = shownText(textIn(error, "message")) ?? "unknown";
        endTurn(session, { stopReason: "error", error: message, nowMs: this.#nowMs });
      }
    }
  }

  /** Takes a request out of whatever it holds open. */
  #close({ key, sessionId, ask }: OpenRequest): void {
    this.#connection.ends(key);
    if (ask !== undefined) this.#connection.asks.delete(key);
    const session = this.#roster.find(sessionId);
    if (session === undefined) return;
    this.#touched.add(session);
    if (session.prompts.delete(key)) settleDoubts(session);
    session.loads.delete(key);
    session.asks.delete(key);
    session.io.delete(key);
  }

  get #isV2(): boolean {
    return (this.#connection.facts.protocolVersion ?? 1) >= 2;
  }
}

function shownBefore({ record }: AcpSession): AcpSession["frozen"] {
  return record === undefined ? undefined : { state: record.state, status: record.status };
}

/** The file, or the command, of what a client serves. Never its arguments, nor any content. */
function servedDetail(session: AcpSession, params: unknown): { readonly detail?: string } {
  const path = textIn(params, "path");
  const terminalId = idText(params, "terminalId");
  const command = terminalId === undefined ? undefined : session.terminals.get(terminalId);
  const found = path === undefined ? (textIn(params, "command") ?? command) : baseName(path);
  const detail = shownText(found, SHOWN.name);
  return detail === null ? {} : { detail };
}

function rememberTerminal(
  session: AcpSession | undefined,
  pending: OpenRequest,
  answer: Answer,
): void {
  if (pending.method !== "terminal/create" || "error" in answer) return;
  const key = idText(answer.result, "terminalId");
  if (session === undefined || key === undefined || pending.detail === undefined) return;
  remember(session.terminals, { key, value: pending.detail, most: MEMORY.others });
}
