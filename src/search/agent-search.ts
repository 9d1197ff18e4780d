/**
 * Find: which agents can do what the caller needs, in the caller's words.
 *
 * A registration does not wait for an embedding; a find does: until the documents are as far as the
 * engine was when it was asked, so that an agent that registered finds itself. Durable cards are
 * ranked (see agent-index.ts, documents.ts); each agent is returned as it is now.
 */
import { asSeen, type Agent, type AgentEntry } from "../core/agents.ts";
import { invalidArgument } from "../core/errors.ts";
import { atMost, count, tooLong } from "../core/fields.ts";
import { FIELD } from "../core/limits.ts";
import { inSlices } from "../machine/slices.ts";
import { AgentIndex, type EngineView } from "./agent-index.ts";
import { SEARCH } from "./limits.ts";
import { SearchThread } from "./thread.ts";
import { Top } from "./top.ts";

export interface AgentSearchOptions {
  readonly engine: EngineView;
  /** Where documents are ranked; it embeds them, too. */
  readonly thread?: SearchThread;
}

export interface AgentSearchQuery {
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
  readonly #index: AgentIndex;

  constructor({ engine, thread = new SearchThread() }: AgentSearchOptions) {
    this.#engine = engine;
    this.#index = new AgentIndex({ engine, thread });
  }

  /** Agents that can be found, and those of them that only words find yet. */
  get stats(): { readonly documents: number; readonly unembedded: number } {
    const { size, unembedded } = this.#index.documents;
    return { documents: size, unembedded };
  }

  /** The living agents that fit best, best first. */
  async find(options: AgentSearchQuery = {}): Promise<Agent[]> {
    const { query = "", tools = [], signal } = options;
    const limit = checked(options);
    await this.#index.upToDate();
    if (query.trim() === "") return this.#list(tools, limit);
    const ids = await this.#index.documents.rank({ query, tools, limit, signal });
    // As they are now: heartbeats, and deaths of this moment, are not in the documents.
    return this.#engine.peek(({ agents }) =>
      ids.flatMap((id) => {
        const entry = agents.byId.get(id);
        return entry?.agent.status === "alive" ? asSeen(entry) : [];
      }),
    );
  }

  close(): Promise<void> {
    return this.#index.close();
  }

  async #list(tools: readonly string[], limit: number): Promise<Agent[]> {
    const entries = this.#engine.peek(({ agents }) => agents.byId.values());
    return (await inSlices(lastSeen(entries, tools, limit))).map(asSeen);
  }
}

/** The agents with all tools that were heard of last; in steps, one for each agent. */
function* lastSeen(
  entries: Iterable<AgentEntry>,
  tools: readonly string[],
  limit: number,
): Generator<void, AgentEntry[]> {
  const top = new Top(limit);
  const fitting: AgentEntry[] = [];
  for (const entry of entries) {
    yield;
    const { agent, seenAtMs } = entry;
    if (agent.status !== "alive") continue;
    if (!tools.every((tool) => agent.card.tools.includes(tool))) continue;
    top.offer(fitting.push(entry) - 1, seenAtMs);
  }
  return top.sorted().flatMap((i) => fitting[i] ?? []);
}

/** How many are wanted, once all of what was asked is in order. */
function checked({ query = "", tools = [], limit = 0 }: AgentSearchQuery): number {
  const problem =
    tooLong("query", query, SEARCH.queryLength) ??
    atMost("tools", tools.length, FIELD.tools) ??
    count("limit", limit, Number.MAX_SAFE_INTEGER);
  if (problem !== undefined) throw invalidArgument(problem);
  return limit === 0 ? SEARCH.defaultLimit : Math.min(limit, SEARCH.maxLimit);
}
