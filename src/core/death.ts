/**
 * The consequences of an agent's death: its leases are released, its candidacies end (with a new
 * leader where it led) and its claimed tasks go back to the queue, all in the one batch that
 * records the death. No reader ever sees a dead agent hold something.
 */
import { asSeen, oldestDead, type Agent, type AgentEntry, type DeathCause } from "./agents.ts";
import { leave } from "./elections.ts";
import type { Event } from "./events.ts";
import { leasesOf } from "./leases.ts";
import type { State } from "./state.ts";
import { giveUp } from "./task-endings.ts";

export function deathOf(
  state: State,
  entry: AgentEntry,
  { cause, nowMs }: { readonly cause: DeathCause; readonly nowMs: number },
): Event[] {
  const { agentId } = entry.agent;
  const agent: Agent = { ...asSeen(entry), status: "dead", diedAtMs: nowMs };
  const events: Event[] = [{ type: "agent.died", agent, cause }];
  const forgotten = oldestDead(state.agents);
  if (forgotten !== undefined) events.push({ type: "agent.forgotten", agentId: forgotten });
  for (const lease of leasesOf(state, agentId)) {
    events.push({ type: "lease.released", lease, cause: "holder died" });
  }
  for (const group of state.elections.byCandidate.of(agentId)) {
    events.push(...leave(state, { group, agentId }, nowMs));
  }
  const claimed = state.tasks.byClaimer.of(agentId);
  return [...events, ...giveUp(state, claimed, { reason: deathReason(agentId), nowMs })];
}

/** Why its tasks were given up. */
export function deathReason(agentId: string): string {
  return `agent ${agentId} died`;
}
