/**
 * The plugin for OpenCode: every session of a person is shown, with what it does and what it asks.
 * Sessions that have a parent are subagents, and not shown.
 *
 *   session.created, chat.message, a tool, status busy or retry     working
 *   question.asked, permission.asked                                 waits for an answer
 *   ….replied, ….rejected                                            working
 *   session.idle                                                     no task; submitted with todos
 *   session.error                                                    failed, until it works again
 *   session.deleted                                                  no longer shown
 *
 * OpenCode calls every function that this module exports: there is one.
 */
import { complain } from "../hooks/complaints.ts";
import { HostSession } from "../hooks/host-session.ts";
import { IN_PROCESS, TEXT } from "../hooks/limits.ts";
import { optionsOf, questionOf, type Question } from "../hooks/question.ts";
import { field, wordOf } from "../../core/text.ts";

export interface OpenCodeInput {
  /** Where OpenCode works. */
  readonly directory: string;
}

export interface OpenCodeEvent {
  readonly type: string;
  readonly properties: unknown;
}

export interface OpenCodeHooks {
  readonly event: (input: { readonly event: OpenCodeEvent }) => Promise<void>;
  readonly "chat.message": (
    input: { readonly sessionID: string; readonly model?: unknown },
    output: { readonly parts: readonly unknown[] },
  ) => Promise<void>;
  readonly "tool.execute.before": (input: { readonly sessionID: string }) => Promise<void>;
  readonly "tool.execute.after": (input: { readonly sessionID: string }) => Promise<void>;
}

export function RollcallPlugin({ directory }: OpenCodeInput): Promise<OpenCodeHooks> {
  const sessions = new Sessions(directory);
  const guarded = async (act: () => Promise<void> | void) => {
    try {
      await act();
    } catch (error) {
      complain(error);
    }
  };
  return Promise.resolve({
    event: ({ event }) => guarded(() => sessions.hear(event)),
    "chat.message": ({ sessionID, model }, { parts }) =>
      guarded(() => sessions.of(sessionID)?.prompted(textOf(parts), nameOf(model))),
    "tool.execute.before": ({ sessionID }) => guarded(() => sessions.works(sessionID)),
    "tool.execute.after": ({ sessionID }) => guarded(() => sessions.works(sessionID)),
  });
}

interface Shown {
  readonly session: HostSession;
  hasTodos: boolean;
  isIdle: boolean;
  hasFailed: boolean;
}

class Sessions {
  readonly #directory: string;
  readonly #shown = new Map<string, Shown>();
  readonly #subagents = new Set<string>();

  constructor(directory: string) {
    this.#directory = directory;
  }

  /** Of a session that is shown; it is from now on, unless it is a subagent's. */
  of(id: string): HostSession | undefined {
    const found = this.#find(id);
    if (found) Object.assign(found, { isIdle: false, hasFailed: false });
    return found?.session;
  }

  works(id: string): void {
    const found = this.#find(id);
    if (!found) return;
    // A tool that asks is at work too: its question stays until it is answered.
    if (found.isIdle || found.hasFailed) found.session.works();
    else found.session.activity();
    Object.assign(found, { isIdle: false, hasFailed: false });
  }

  async hear({ type, properties }: OpenCodeEvent): Promise<void> {
    const info = field(properties, "info");
    const id = idOf(field(properties, "sessionID") ?? field(info, "id"));
    if (id === undefined) return;
    if (field(info, "parentID")) this.#subagents.add(id);
    const request = idOf(field(properties, "requestID") ?? field(properties, "id")) ?? "";
    switch (type) {
      case "session.created":
        return this.#find(id, field(info, "directory"))?.session.works();
      case "session.status":
        return this.#status(id, field(field(properties, "status"), "type"));
      case "question.asked":
        return this.of(id)?.asks(request, questionOf("question__question", properties));
      case "permission.asked":
      case "permission.updated":
        return this.of(id)?.asks(request, permissionOf(properties));
      case "question.replied":
      case "question.rejected":
      case "permission.replied":
        return this.of(id)?.answered(request);
      case "todo.updated":
        return this.#todos(id, field(properties, "todos"));
      case "session.idle":
        return this.#idle(id);
      case "session.error":
        return this.#failed(id, field(properties, "error"));
      case "session.deleted":
        return this.#forget(id);
    }
  }

  #find(id: string, directory?: unknown): Shown | undefined {
    if (this.#subagents.has(id)) return undefined;
    const found = this.#shown.get(id);
    if (found || this.#shown.size >= IN_PROCESS.sessions) return found;
    const workspace = typeof directory === "string" ? directory : this.#directory;
    const session = new HostSession({ host: "opencode", sessionId: id, workspace });
    const shown = { session, hasTodos: false, isIdle: false, hasFailed: false };
    this.#shown.set(id, shown);
    return shown;
  }

  #status(id: string, status: unknown): void {
    if (status === "busy" || status === "retry") this.works(id);
    else if (status === "idle") this.#idle(id);
  }

  #todos(id: string, todos: unknown): void {
    const found = this.#shown.get(id);
    if (!found) return;
    found.hasTodos = Array.isArray(todos) && todos.some(isOpen);
    if (found.isIdle) this.#idle(id);
  }

  #idle(id: string): void {
    const found = this.#shown.get(id);
    if (!found) return;
    found.isIdle = true;
    // OpenCode says that it is idle right after it failed: that is no news.
    if (!found.hasFailed) found.session.rests(found.hasTodos ? "submitted" : undefined);
  }

  #failed(id: string, error: unknown): void {
    const found = this.#shown.get(id);
    if (!found) return;
    const name = wordOf(field(error, "name"), TEXT.summaryLength);
    // A person stopped it.
    if (name === "MessageAbortedError") return this.#idle(id);
    found.hasFailed = true;
    const message = wordOf(field(field(error, "data"), "message"), TEXT.summaryLength);
    found.session.rests("failed", message ?? name ?? "it failed");
  }

  async #forget(id: string): Promise<void> {
    const found = this.#shown.get(id);
    this.#shown.delete(id);
    this.#subagents.delete(id);
    await found?.session.close();
  }
}

function idOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

function isOpen(todo: unknown): boolean {
  const status = field(todo, "status");
  return status !== "completed" && status !== "cancelled";
}

/** The permission question: the tool, and the patterns that a person would allow. */
function permissionOf(properties: unknown): Question {
  const tool = wordOf(field(properties, "permission") ?? field(properties, "type"), 80) ?? "tool";
  const title = wordOf(field(properties, "title"), TEXT.questionLength);
  const [pattern] = optionsOf(field(properties, "patterns"));
  const text = title ?? (pattern === undefined ? `Use ${tool}?` : `${tool}: ${pattern}`);
  return { kind: "permission", text, tool };
}

function textOf(parts: readonly unknown[]): string {
  const texts = parts.filter((part) => field(part, "type") === "text" && !field(part, "synthetic"));
  return texts.map((part) => wordOf(field(part, "text"), TEXT.summaryLength) ?? "").join(" ");
}

function nameOf(model: unknown): string | undefined {
  const provider = wordOf(field(model, "providerID"), TEXT.optionLength);
  const name = wordOf(field(model, "modelID"), TEXT.optionLength);
  return name === undefined ? undefined : [provider, name].filter(Boolean).join("/");
}
