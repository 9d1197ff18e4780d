/**
 * The documents of a search, kept in step with an engine.
 *
 *   engine ──events──▶ documents, on the search thread
 *
 *   loading ──state read──▶ watching ──resync, or the thread died──▶ loading
 *                            ▲    │ cut, or failed
 *                            └────┘ goes on after the last event it knows
 *
 * It follows like any watcher, so a registration is acknowledged without waiting for an embedding.
 * It watches agents only: thousands of leases a second are none of its business. A search must know
 * that the documents are up to date, and not only that no event arrived: so it asks the watch for
 * a bookmark.
 */
import type { Agent } from "../core/agents.ts";
import { codeOf, RollcallError } from "../core/errors.ts";
import type { Event } from "../core/events.ts";
import type { Engine } from "../engine/engine.ts";
import type { Watch, WatchItem, WatchOptions } from "../engine/watch.ts";
import type { Collection } from "./collection.ts";
import { documentOf } from "./document.ts";
import { SEARCH } from "./limits.ts";
import type { SearchThread } from "./thread.ts";
import { pauseFor, doneWithin } from "./waiting.ts";

/** The part of an engine that a search follows. */
export interface EngineView extends Pick<Engine, "head" | "mode" | "peek" | "read"> {
  watch(options: WatchOptions): Pick<Watch, "pull" | "bookmark" | "close">;
}

const PREFIXES = ["agent."];

export interface AgentIndexOptions {
  readonly engine: EngineView;
  readonly thread: SearchThread;
}

export class AgentIndex {
  readonly documents: Collection;
  readonly #engine: EngineView;
  readonly #onTrouble: (what: string, error: unknown) => void;
  readonly #closing = new AbortController();
  readonly #following: Promise<void>;
  /** The last sequence the documents know of; −1 before the first state was read. */
  #applied = -1;
  /** How often the documents were lost. */
  #losses = 0;
  #watch: Pick<Watch, "bookmark" | "close"> | undefined;
  readonly #waiting = new Set<{ readonly target: number; readonly resolve: () => void }>();

  constructor({ engine, thread }: AgentIndexOptions) {
    this.#engine = engine;
    this.#onTrouble = thread.onTrouble;
    this.documents = thread.collection("agents", () => this.#lose());
    this.#following = this.#follow().finally(() => {
      for (const { resolve } of this.#waiting) resolve();
    });
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.documents.close();
    await this.#following;
  }

  /** Waits until everything that was acknowledged before this call is in the documents. */
  async upToDate(): Promise<void> {
    await this.#engine.read(() => undefined);
    const target = this.#engine.head;
    if (this.#isClosing()) throw new RollcallError("UNAVAILABLE", "the search is closing");
    if (this.#applied >= target) return;
    let waiting = { target, resolve: () => {} };
    const reached = new Promise<void>((resolve) => (waiting = { target, resolve }));
    this.#waiting.add(waiting);
    this.#watch?.bookmark();
    await doneWithin(SEARCH.catchUpMs, reached);
    this.#waiting.delete(waiting);
    if (this.#applied >= target) return;
    throw new RollcallError("UNAVAILABLE", `the search has not reached event ${target} yet`);
  }

  #reach(sequence: number): void {
    this.#applied = sequence;
    for (const { target, resolve } of this.#waiting) if (target <= sequence) resolve();
  }

  #lose(): void {
    this.#applied = -1;
    this.#losses += 1;
    this.#watch?.close();
  }

  /** Until it is closed, or the engine is. */
  async #follow(): Promise<void> {
    for (let losses = 0; !this.#isClosing();) {
      // A thread that dies again and again is not started again and again.
      if (losses < this.#losses) await pauseFor(SEARCH.firstRetryMs, this.#closing.signal);
      losses = this.#losses;
      try {
        if (this.#applied < 0) await this.#load();
        if (this.#applied >= 0) await this.#listen();
      } catch (error) {
        if (this.#isClosing()) return;
        // It may have been cut while many registered at once; the log has the rest.
        if (codeOf(error) === "SLOW_CONSUMER") continue;
        this.#onTrouble("could not follow the engine", error);
        await pauseFor(SEARCH.firstRetryMs, this.#closing.signal);
      }
    }
  }

  /** Makes the documents what the state is. What is early in it comes again, to no effect. */
  async #load(): Promise<void> {
    const losses = this.#losses;
    // Agents that come and go meanwhile are told by the events after this one.
    const { head, agents } = await this.#engine.read(({ agents: { byId } }, at) => ({
      head: at,
      agents: byId,
    }));
    let seen = 0;
    for (const { agent } of agents.values()) {
      if (seen % SEARCH.documentsPerTurn === 0) await this.#yield();
      if (this.#isClosing() || losses < this.#losses) return;
      seen += 1;
      if (agent.status !== "dead") this.#put(agent);
    }
    for (const agentId of this.documents.ids) {
      if (seen % SEARCH.documentsPerTurn === 0) await this.#yield();
      seen += 1;
      if (isGone(agents.get(agentId)?.agent)) this.documents.remove(agentId);
    }
    // Events that were decided meanwhile and never became durable are in no other state.
    await this.#engine.read(() => undefined);
    const isSame = this.#engine.peek((state) => state.agents.byId === agents);
    if (isSame && losses === this.#losses) this.#reach(head);
  }

  async #yield(): Promise<void> {
    await pauseFor(0, this.#closing.signal);
    await this.documents.room();
  }

  /** Applies what happens until the watch ends; after a resync the state has to be read anew. */
  async #listen(): Promise<void> {
    const { signal } = this.#closing;
    const watch = this.#engine.watch({ prefixes: PREFIXES, from: this.#applied, signal });
    this.#watch = watch;
    try {
      for (;;) {
        const items = await watch.pull();
        if (items.length === 0 || !(await this.#take(items))) return;
      }
    } finally {
      this.#watch = undefined;
      watch.close();
    }
  }

  /** False when they do not follow on what is known. */
  async #take(items: readonly WatchItem[]): Promise<boolean> {
    const losses = this.#losses;
    let added = 0;
    for (const item of items) {
      if (losses < this.#losses) return false;
      if (item.kind === "resync") {
        this.#applied = -1;
        return false;
      }
      if (item.kind === "event") {
        const { event, sequence } = item.recorded;
        this.#apply(event);
        this.#reach(sequence);
        if (event.type !== "agent.registered") continue;
        added += 1;
        if (added % SEARCH.documentsPerTurn === 0) await this.#yield();
      } else {
        this.#reach(item.sequence);
      }
    }
    return true;
  }

  #apply(event: Event): void {
    if (event.type === "agent.forgotten") this.documents.remove(event.agentId);
    else if (event.type === "agent.died") this.documents.remove(event.agent.agentId);
    else if (event.type === "agent.registered") this.#put(event.agent);
    else if (event.type === "agent.recovered") this.#put(event.agent);
    else if (event.type === "agent.unreachable") this.#put(event.agent);
  }

  #put({ agentId, card, status }: Agent): void {
    const isAlive = status === "alive";
    if (this.documents.has(agentId)) this.documents.setAlive(agentId, isAlive);
    else this.documents.add(documentOf(agentId, card, isAlive));
  }

  // A method: the compiler would take a property for unchanged across an await.
  #isClosing(): boolean {
    return this.#closing.signal.aborted || this.#engine.mode === "closed";
  }
}

function isGone(agent: Agent | undefined): boolean {
  return agent === undefined || agent.status === "dead";
}
