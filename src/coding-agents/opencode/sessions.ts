/**
 * The sessions of one OpenCode, each a row; a session with a parent is a subagent's, and has none:
 * what it asks, its parent's row asks.
 *
 *   session.created                                        at rest
 *   chat.message, a tool begins, status busy or retry      working
 *   session.idle, status idle                              at rest; submitted with open todos;
 *                                                          asks with the last words of its answer
 *   session.error                                          failed, until it works again
 *   session.deleted                                        no longer shown
 */
import { field, wordOf } from "../../core/text.ts";
import { HostSession } from "../hooks/host-session.ts";
import { IN_PROCESS, TEXT } from "../hooks/limits.ts";
import { surprise } from "../hooks/surprises.ts";
import { askedOf, permissionOf, OpenCodeQuestions } from "./questions.ts";
import type { HookQuestion } from "../hooks/question.ts";

export interface OpenCodeEvent {
  /** Ids of a process grow with time. */
  readonly id?: string;
  readonly type: string;
  readonly properties: unknown;
}

interface Shown {
  readonly session: HostSession;
  hasTodos: boolean;
  hasFailed: boolean;
  /** Its last answer: the id of the message, and the text of it so far. */
  answer: { readonly id: string; readonly words: string };
  /** The latest event that said what it does, and when, on the clock that never jumps. */
  toldBy: string;
  toldMs: number;
}

export class OpenCodeSessions {
  readonly #directory: string;
  readonly #shown = new Map<string, Shown>();
  readonly #parents = new Map<string, string>();
  readonly #questions = new OpenCodeQuestions();

  constructor(directory: string) {
    this.#directory = directory;
  }

  prompted(id: string, text: string, model: string | undefined): void {
    const found = this.#isSubagent(id) ? undefined : this.#find(id);
    if (!found) return this.works(id);
    found.hasFailed = false;
    found.answer = { id: "", words: "" };
    found.session.prompted(text, model);
  }

  works(id: string): void {
    const found = this.#find(this.#rootOf(id));
    if (!found) return;
    if (this.#isSubagent(id)) return found.session.activity();
    found.hasFailed = false;
    found.session.works();
  }

  /** A tool is over: it never begins anything, for its turn may be over too. */
  ranTool(id: string, callId: string): void {
    this.#questions.closeWhere((each) => each.callId === callId);
    this.#shown.get(this.#rootOf(id))?.session.activity();
  }

  async hear(event: OpenCodeEvent): Promise<void> {
    const { type, properties } = event;
    const info = field(properties, "info");
    const part = field(properties, "part");
    const ids = [field(properties, "sessionID"), field(part, "sessionID"), field(info, "id")];
    const id = ids.map(idOf).find((each) => each !== undefined);
    if (id === undefined) return;
    switch (type) {
      case "session.created":
      case "session.updated":
        this.#remember(id, info);
        if (type === "session.created") this.#find(id, field(info, "directory"));
        return;
      case "session.status":
      case "session.idle":
      case "session.error":
        return this.#isLate(id, event) ? undefined : this.#turn(id, event);
      case "question.asked":
        return this.#ask(id, properties, askedOf(properties));
      case "permission.asked":
      case "permission.updated":
        return this.#ask(id, properties, permissionOf(properties));
      case "question.replied":
      case "question.rejected":
      case "permission.replied":
        return this.#questions.close(requestOf(properties));
      case "message.updated":
        return this.#message(id, info);
      case "message.part.updated":
        return this.#part(id, part);
      case "todo.updated":
        return this.#todos(id, field(properties, "todos"));
      case "session.deleted":
        return this.#forget(id);
    }
  }

  /** Only a session has a session for its parent: the parent of a message is a message. */
  #remember(id: string, info: unknown): void {
    const parent = idOf(field(info, "parentID"));
    if (parent !== undefined && this.#parents.size < IN_PROCESS.subagents) {
      this.#parents.set(id, parent);
    }
  }

  #isSubagent(id: string): boolean {
    return this.#parents.has(id);
  }

  /** The session of a person that this one works for. */
  #rootOf(id: string): string {
    let root = id;
    for (let depth = 0; depth < IN_PROCESS.depth; depth += 1) {
      const parent = this.#parents.get(root);
      if (parent === undefined) return root;
      root = parent;
    }
    return root;
  }

  #find(id: string, directory?: unknown): Shown | undefined {
    if (this.#isSubagent(id)) return undefined;
    const found = this.#shown.get(id);
    if (found || this.#shown.size >= IN_PROCESS.sessions) return found;
    const workspace = typeof directory === "string" ? directory : this.#directory;
    const session = new HostSession({ host: "opencode", sessionId: id, workspace });
    const answer = { id: "", words: "" };
    const shown = { session, hasTodos: false, hasFailed: false, answer, toldBy: "", toldMs: 0 };
    this.#shown.set(id, shown);
    return shown;
  }

  #isLate(id: string, event: OpenCodeEvent): boolean {
    const found = this.#shown.get(id);
    if (!found || event.id === undefined) return false;
    const nowMs = performance.now();
    // Ids are made of the time: they fall where the clock was set back.
    if (event.id <= found.toldBy && nowMs - found.toldMs < IN_PROCESS.lateMs) return true;
    found.toldBy = event.id;
    found.toldMs = nowMs;
    return false;
  }

  #turn(id: string, { type, properties }: OpenCodeEvent): void {
    const status = field(field(properties, "status"), "type");
    if (type === "session.error") return this.#failed(id, field(properties, "error"));
    if (type === "session.idle" || status === "idle") return this.#idle(id);
    if (status === "busy" || status === "retry") return this.works(id);
    surprise("opencode", `a session that is ${String(status)}`);
  }

  #ask(id: string, properties: unknown, question: HookQuestion): void {
    const row = this.#find(this.#rootOf(id))?.session;
    if (!row) return;
    const tool = field(properties, "tool");
    const callId = idOf(field(tool, "callID"));
    const messageId = idOf(field(tool, "messageID"));
    this.works(id);
    this.#questions.ask(requestOf(properties), { row, sessionId: id, callId, messageId }, question);
  }

  /** A session begins its next message when all tools of the one before are over. */
  #message(id: string, info: unknown): void {
    const next = idOf(field(info, "id"));
    if (field(info, "role") !== "assistant" || next === undefined) return;
    const found = this.#shown.get(id);
    if (found && next > found.answer.id) found.answer = { id: next, words: "" };
    this.#questions.closeWhere(
      ({ sessionId, messageId }) => sessionId === id && messageId !== undefined && messageId < next,
    );
  }

  /** Of a message: a text is told whole, again and again while it grows. */
  #part(id: string, part: unknown): void {
    const found = this.#shown.get(id);
    const text = field(part, "text");
    if (!found || field(part, "messageID") !== found.answer.id || typeof text !== "string") return;
    const isLast = field(part, "type") === "text";
    found.answer = { id: found.answer.id, words: isLast ? text.slice(-TEXT.questionLength) : "" };
  }

  #todos(id: string, todos: unknown): void {
    const found = this.#shown.get(id);
    if (!found) return;
    found.hasTodos = Array.isArray(todos) && todos.some(isOpen);
    if (!found.session.isWorking) this.#idle(id);
  }

  #idle(id: string): void {
    this.#questions.closeWhere(({ sessionId }) => sessionId === id);
    const found = this.#shown.get(id);
    // OpenCode says that it is idle right after it failed: that is no news.
    if (!found || found.hasFailed) return;
    if (found.hasTodos) found.session.rests("submitted");
    else found.session.answers(found.answer.words);
  }

  #stopped(id: string): void {
    const found = this.#shown.get(id);
    if (found) found.answer = { ...found.answer, words: "" };
    this.#idle(id);
  }

  #failed(id: string, error: unknown): void {
    const name = wordOf(field(error, "name"), TEXT.summaryLength);
    // A person stopped it.
    if (name === "MessageAbortedError") return this.#stopped(id);
    this.#questions.closeWhere(({ sessionId }) => sessionId === id);
    const found = this.#shown.get(id);
    if (!found) return;
    found.hasFailed = true;
    const message = wordOf(field(field(error, "data"), "message"), TEXT.summaryLength);
    found.session.rests("failed", message ?? name ?? "it failed");
  }

  async #forget(id: string): Promise<void> {
    this.#questions.closeWhere(({ sessionId }) => sessionId === id);
    const found = this.#shown.get(id);
    this.#shown.delete(id);
    this.#parents.delete(id);
    await found?.session.close();
  }
}

function requestOf(properties: unknown): string {
  return idOf(field(properties, "requestID") ?? field(properties, "id")) ?? "";
}

function idOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

function isOpen(todo: unknown): boolean {
  const status = field(todo, "status");
  return status !== "completed" && status !== "cancelled";
}
