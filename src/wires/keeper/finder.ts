/** Finding agents. Which of those that have the tools come first is for whoever finds to say. */
import { asSeen, type Agent, type AgentEntry } from "../../core/agents.ts";
import type { Engine } from "../../engine/engine.ts";

export interface Wanted {
  /** What the agent should be good at; empty lists them all. */
  readonly query: string;
  /** It must have every one of these. */
  readonly tools: readonly string[];
  readonly limit: number;
}

export interface Finder {
  /** Agents that are alive, the best first, at most as many as wanted. */
  find(wanted: Wanted): Promise<readonly Agent[]>;
}

/** Ranks by the newest heartbeat alone: whoever was heard last is the surest to be there. */
export function newestFirst(engine: Engine): Finder {
  return {
    find: ({ tools, limit }) =>
      engine.read(({ agents }) => {
        const newest: AgentEntry[] = [];
        for (const entry of agents.byId.values()) {
          const { status, card } = entry.agent;
          const isFit = status === "alive" && tools.every((tool) => card.tools.includes(tool));
          if (isFit) insert(newest, entry, limit);
        }
        return newest.map(asSeen);
      }),
  };
}

/** Keeps the list sorted and short, so that a million agents are looked at once each. */
function insert(newest: AgentEntry[], entry: AgentEntry, limit: number): void {
  const last = newest.at(-1);
  if (newest.length >= limit && last && last.seenAtMs >= entry.seenAtMs) return;
  let low = 0;
  let high = newest.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((newest[middle]?.seenAtMs ?? 0) >= entry.seenAtMs) low = middle + 1;
    else high = middle;
  }
  newest.splice(low, 0, entry);
  if (newest.length > limit) newest.pop();
}
