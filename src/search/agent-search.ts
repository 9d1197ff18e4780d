/**
 * Find: which agents can do what the caller needs, in the caller's words.
 *
 * A registration does not wait for an embedding; a find does: until the documents are as far as the
 * engine was when it was asked, so that an agent that registered finds itself. Durable cards are
 * ranked (see agent-index.ts, documents.ts); each agent is returned as it is now.
 */
import { asSeen, type Agent, type AgentEntry } from "../core/agents.ts";
import { invalidArgument, RollcallError } from "../core/errors.ts";
import { atMost, count, tooLong } from "../core/fields.ts";
import { FIELD } from "../core/limits.ts";
import { AgentIndex, type EngineView } from "./agent-index.ts";
import { builtInEmbedder, type Embedder } from "./embedder.ts";
import { SEARCH } from "./limits.ts";
import { Top } from "./top.ts";

export interface AgentSearchOptions {
  readonly engine: EngineView;
  /** The built-in model unless another is given. */
  readonly embedder?: Embedder;
  /** Something failed and is being dealt with: for the operator. */
  readonly onTrouble?: (what: string, error: unknown) => void;
}

export interface FindOptions {
  /** The query in plain words; empty lists all, the last heard of first. */
  readonly query?: string;
  /** Only agents that have all of these. */
  readonly tools?: readonly string[];
  /** 0 stands for the default; more than the maximum is the maximum. */
  readonly limit?: number;
  readonly signal?: AbortSignal;
}

export class AgentSearch {
  readonly #engine: EngineView;
  readonly #embedder: Embedder;
  readonly #onTrouble: (what: string, error: unknown) => void;
  readonly #index: AgentIndex;

  constructor({ engine, embedder, onTrouble }: AgentSearchOptions) {
    this.#engine = engine;
    this.#embedder = embedder ?? builtInEmbedder();
    this.#onTrouble = onTrouble ?? (() => undefined);
    this.#index = new AgentIndex({
      engine,
      embedder: this.#embedder,
      onTrouble: this.#onTrouble,
    });
  }

  /** Agents that can be found, and those of them that only words find yet. */
  get stats(): { readonly documents: number; readonly unembedded: number } {
    return { documents: this.#index.documents.size, unembedded: this.#index.embeddings.size };
  }

  /** The living agents that fit best, best first. */
  async find(options: FindOptions = {}): Promise<Agent[]> {
    const { query = "", tools = [], signal } = options;
    const limit = checked(options);
    await this.#index.upToDate();
    if (query.trim() === "") return this.#list(tools, limit);
    const [vector] = await Promise.all([
      this.#vectorOf(query, signal),
      this.#index.embeddings.settled(),
    ]);
    const ids = this.#index.documents.rank({ query, vector, tools, limit });
    return this.#entries(ids).map(asSeen);
  }

  close(): Promise<void> {
    return this.#index.close();
  }

  #list(tools: readonly string[], limit: number): Agent[] {
    const entries = this.#entries(this.#index.documents.withTools(tools));
    const top = new Top(limit);
    for (const [i, { seenAtMs }] of entries.entries()) top.offer(i, seenAtMs);
    return top.sorted().flatMap((i) => (entries[i] ? asSeen(entries[i]) : []));
  }

  /** As they are now: heartbeats, and deaths of this moment, are not in the documents. */
  #entries(ids: Iterable<string>): AgentEntry[] {
    return this.#engine.peek(({ agents }) => {
      const entries: AgentEntry[] = [];
      for (const id of ids) {
        const entry = agents.byId.get(id);
        if (entry?.agent.status === "alive") entries.push(entry);
      }
      return entries;
    });
  }

  /** Nothing when it cannot be made: then words must do, which is better than no answer. */
  async #vectorOf(query: string, signal?: AbortSignal): Promise<Float32Array | undefined> {
    try {
      const [vector] = await this.#embedder.embed([query], signal);
      return vector;
    } catch (error) {
      if (signal?.aborted) throw new RollcallError("CANCELLED", "find was cancelled");
      this.#onTrouble("could not embed a query", error);
      return undefined;
    }
  }
}

/** How many are wanted, once all of what was asked is in order. */
function checked({ query = "", tools = [], limit = 0 }: FindOptions): number {
  const problem =
    tooLong("query", query, SEARCH.queryLength) ??
    atMost("tools", tools.length, FIELD.tools) ??
    count("limit", limit, Number.MAX_SAFE_INTEGER);
  if (problem !== undefined) throw invalidArgument(problem);
  return limit === 0 ? SEARCH.defaultLimit : Math.min(limit, SEARCH.maxLimit);
}
