/** The name of an agent by its id; empty when it is no longer known. */
import type { State } from "../core/state.ts";

export function agentNameOf({ agents }: State, agentId: string): string {
  return agents.byId.get(agentId)?.agent.card.name ?? "";
}
