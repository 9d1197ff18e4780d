/**
 * The state of a session of Codex as its app-server tells it, where that runs the session; else as
 * the conversation says that a turn ended (`codex exec`, older versions).
 *
 *   connected ──▶ knows the thread? ──no──▶ asks again when it hears of it
 *       ▲              │ yes: its state, and in which terminal it is
 *       └── at a look ─┴─ the app-server went away: the session with it, unless it is back soon
 *
 * A terminal that clears its session begins another thread and says nothing of the first: that one
 * is over once it rests. The new one is announced, as its first hook comes with its first prompt.
 */
import { APP_SERVER, WITNESS } from "../hooks/limits.ts";
import type { Presence } from "../hooks/presence.ts";
import type { HookSession } from "../hooks/session.ts";
import { surprise } from "../hooks/surprises.ts";
import { FileTail } from "../hooks/tail.ts";
import type { Seating, Witness } from "../hooks/witness.ts";
import { field } from "../../core/text.ts";
import { AppServer, controlSocket, type AppServerNotice } from "./app-server.ts";
import { seatingIn, welcome } from "./begun.ts";
import { endOfLastTurn } from "./conversation.ts";
import { presenceOf, stateOf, type Thread } from "./threads.ts";

export function codexWitness(sessionId: string, noticed: () => void): Witness {
  return new CodexWitness(sessionId, noticed);
}

class CodexWitness implements Witness {
  readonly #id: string;
  readonly #noticed: () => void;
  readonly #threads = new Map<string, Thread>();
  readonly #conversation: FileTail<Presence | undefined>;
  #server: AppServer | undefined;
  #seating: Seating | undefined;
  #session: HookSession | undefined;
  /** Since when its terminal is at another thread. */
  #leftAtMs: number | undefined;
  /** Since when the app-server that ran it is not to be reached. */
  #lostAtMs: number | undefined;
  #version: string | undefined;
  #isClosed = false;

  constructor(sessionId: string, noticed: () => void) {
    this.#id = sessionId;
    this.#noticed = noticed;
    this.#conversation = new FileTail(endOfLastTurn, noticed);
  }

  get isLive(): boolean {
    if (this.#lostAtMs !== undefined) return false;
    return this.#threads.has(this.#id) || this.#conversation.isWatched;
  }

  presence(session: HookSession): Presence | undefined {
    this.#session = session;
    this.#connect();
    const lostAtMs = this.#lostAtMs;
    if (lostAtMs !== undefined && Date.now() - lostAtMs >= WITNESS.graceMs) {
      return { state: "gone", sinceMs: lostAtMs };
    }
    const presence = presenceOf(this.#threads, this.#id);
    if (presence && presence.state !== "failed") return this.#unlessLeft(presence);
    const ended = this.#conversation.of(session.conversation);
    return presence ? { ...presence, ...failureOf(ended) } : ended;
  }

  seating(): Seating | undefined {
    return this.#seating;
  }

  close(): void {
    this.#isClosed = true;
    this.#server?.close();
    this.#conversation[Symbol.dispose]();
  }

  #unlessLeft(presence: Presence): Presence {
    if (presence.state !== "idle" || this.#leftAtMs === undefined) return presence;
    return { state: "gone", sinceMs: Math.max(presence.sinceMs, this.#leftAtMs) };
  }

  #connect(): void {
    const path = this.#server || this.#isClosed ? undefined : controlSocket();
    if (path === undefined) return;
    const server = new AppServer({
      path,
      onReady: () => this.#read(server),
      onNotice: (notice) => this.#hear(server, notice),
      onClose: () => {
        this.#server = undefined;
        if (!this.#threads.has(this.#id)) return;
        this.#lostAtMs = Date.now();
        this.#threads.clear();
        this.#noticed();
      },
    });
    this.#server = server;
  }

  async #read(server: AppServer): Promise<void> {
    this.#lostAtMs = undefined;
    const loaded = field(await server.ask("thread/loaded/list", {}), "data");
    const ids = Array.isArray(loaded) ? loaded.filter((id) => typeof id === "string") : [];
    // One of another process: it is written down here, and runs there.
    if (!ids.includes(this.#id)) return;
    await Promise.all([this.#sit(server), ...ids.map((id) => this.#learn(server, id))]);
    this.#noticed();
  }

  /** Of a subagent's thread nothing is told but its states: who its parent is has to be asked. */
  async #learn(server: AppServer, threadId: string): Promise<void> {
    const thread = field(await server.ask("thread/read", { threadId }), "thread");
    if (thread === undefined || this.#threads.size >= APP_SERVER.threads) return;
    const parent = field(thread, "parentThreadId");
    const version = field(thread, "cliVersion");
    if (typeof version === "string") this.#version = version;
    const state = this.#stateIn(field(thread, "status"));
    const kept = { state, sinceMs: Date.now(), ...(typeof parent === "string" && { parent }) };
    this.#threads.set(threadId, kept);
    if (parent === this.#id) this.#noticed();
  }

  async #sit(server: AppServer): Promise<void> {
    // One that is too busy to say says nothing new.
    this.#seating = (await seatingIn(server, this.#id)) ?? this.#seating;
    this.#noticed();
  }

  async #hear(server: AppServer, { method, params, atMs }: AppServerNotice): Promise<void> {
    const id = field(params, "threadId");
    if (method === "thread/started") return this.#begun(server, field(params, "thread"), atMs);
    if (method !== "thread/status/changed" || typeof id !== "string") return;
    const known = this.#threads.get(id);
    if (!known) return id === this.#id ? this.#read(server) : this.#learn(server, id);
    const state = this.#stateIn(field(params, "status"));
    if (state === "closed" && id !== this.#id) this.#threads.delete(id);
    else this.#threads.set(id, { ...known, state, sinceMs: atMs });
    if (id === this.#id || known.parent === this.#id) this.#noticed();
    // A prompt comes from the terminal that a person sits at, maybe another one than before.
    if (id === this.#id && state === "busy" && known.state !== "waiting") await this.#sit(server);
  }

  #stateIn(status: unknown): Thread["state"] {
    const state = stateOf(status);
    const what = `a thread that is ${String(field(status, "type"))}`;
    if (state === "unknown") surprise("codex", what, this.#version);
    return state;
  }

  async #begun(server: AppServer, thread: unknown, atMs: number): Promise<void> {
    if (!this.#session || field(thread, "id") === this.#id) return;
    const seat = await welcome(server, { thread, atMs, beside: this.#session });
    if (!seat || seat.process.pid !== this.#seating?.seat?.process.pid) return;
    this.#leftAtMs = atMs;
    this.#noticed();
  }
}

function failureOf(ended: Presence | undefined): Pick<Presence, "failure"> {
  return ended?.failure === undefined ? {} : { failure: ended.failure };
}
