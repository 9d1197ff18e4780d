/**
 * The documents of a search, kept in step with an engine.
 *
 *   engine ──events──▶ documents (words, tools) ──▶ embedding queue ──▶ vectors
 *
 *   loading ──state read──▶ watching ──resync──▶ loading
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
import { Documents } from "./documents.ts";
import type { Embedder } from "./embedder.ts";
import { EmbeddingQueue } from "./embedding-queue.ts";
import { SEARCH } from "./limits.ts";
import { pause, within } from "./waiting.ts";

/** The part of an engine that a search follows. */
export interface EngineView extends Pick<Engine, "head" | "mode" | "peek" | "read"> {
  watch(options: WatchOptions): Pick<Watch, "pull" | "bookmark" | "close">;
}

const PREFIXES = ["agent."];

export interface AgentIndexOptions {
  readonly engine: EngineView;
  readonly embedder: Embedder;
  readonly onTrouble: (what: string, error: unknown) => void;
}

export class AgentIndex {
  readonly documents = new Documents();
  readonly embeddings: EmbeddingQueue;
  readonly #engine: EngineView;
  readonly #onTrouble: (what: string, error: unknown) => void;
  readonly #closing = new AbortController();
  readonly #following: Promise<void>;
  /** The last sequence the documents know of; −1 before the first state was read. */
  #applied = -1;
  #watch: Pick<Watch, "bookmark"> | undefined;
  readonly #waiting = new Set<{ readonly target: number; readonly resolve: () => void }>();

  constructor({ engine, embedder, onTrouble }: AgentIndexOptions) {
    this.#engine = engine;
    this.#onTrouble = onTrouble;
    this.embeddings = new EmbeddingQueue({
      embedder,
      onVector: (agentId, vector) => this.documents.setVector(agentId, vector),
      onTrouble,
    });
    this.#following = this.#follow().finally(() => {
      for (const { resolve } of this.#waiting) resolve();
    });
  }

  async close(): Promise<void> {
    this.#closing.abort();
    this.embeddings.close();
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
    await within(SEARCH.catchUpMs, reached);
    this.#waiting.delete(waiting);
    if (this.#applied >= target) return;
    throw new RollcallError("UNAVAILABLE", `the search has not reached event ${target} yet`);
  }

  #reach(sequence: number): void {
    this.#applied = sequence;
    for (const { target, resolve } of this.#waiting) if (target <= sequence) resolve();
  }

  /** Until it is closed, or the engine is. */
  async #follow(): Promise<void> {
    while (!this.#isClosing()) {
      try {
        if (this.#applied < 0) await this.#load();
        await this.#listen();
      } catch (error) {
        if (this.#isClosing()) return;
        // It may have been cut while many registered at once; the log has the rest.
        if (codeOf(error) === "SLOW_CONSUMER") continue;
        this.#onTrouble("could not follow the engine", error);
        await pause(SEARCH.firstRetryMs, this.#closing.signal);
      }
    }
  }

  /** Makes the documents what the state is. What is early in it comes again, to no effect. */
  async #load(): Promise<void> {
    const { head, agents } = await this.#engine.read((state) => ({
      head: this.#engine.head,
      agents: [...state.agents.byId.values()].map(({ agent }) => agent),
    }));
    const living = new Set<string>();
    for (const [i, agent] of agents.entries()) {
      if (i % SEARCH.documentsPerTurn === 0) await pause(0, this.#closing.signal);
      if (this.#isClosing()) return;
      if (agent.status === "dead") continue;
      living.add(agent.agentId);
      this.#put(agent);
    }
    for (const agentId of this.documents.agentIds) {
      if (!living.has(agentId)) this.#remove(agentId);
    }
    this.#reach(head);
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
    let added = 0;
    for (const item of items) {
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
        if (added % SEARCH.documentsPerTurn === 0) await pause(0, this.#closing.signal);
      } else {
        this.#reach(item.sequence);
      }
    }
    return true;
  }

  #apply(event: Event): void {
    if (event.type === "agent.forgotten") this.#remove(event.agentId);
    else if (event.type === "agent.died") this.#remove(event.agent.agentId);
    else if (event.type === "agent.registered") this.#put(event.agent);
    else if (event.type === "agent.recovered") this.#put(event.agent);
    else if (event.type === "agent.unreachable") this.#put(event.agent);
  }

  #put(agent: Agent): void {
    const { agentId } = agent;
    if (this.documents.has(agentId)) {
      this.documents.setAlive(agentId, agent.status === "alive");
      return;
    }
    this.documents.add(agent);
    this.embeddings.add(agentId, agent.card);
  }

  #remove(agentId: string): void {
    this.documents.remove(agentId);
    this.embeddings.drop(agentId);
  }

  // A method: the compiler would take a property for unchanged across an await.
  #isClosing(): boolean {
    return this.#closing.signal.aborted || this.#engine.mode === "closed";
  }
}
