/**
 * The consequences of an agent's death: its leases are released, its candidacies end (with a new
 * leader where it led) and its claimed tasks go back to the queue, all in the one batch that
 * records the death. No reader ever sees a dead agent hold something.
 *
 * One append takes only so much. An agent that is found dead with more than that loses the first of
 * it in batches before the one of its death.
 */
import { asSeen, oldestDead, type Agent, type AgentEntry, type DeathCause } from "./agents.ts";
import { leave } from "./elections.ts";
import type { Event } from "./events.ts";
import { leasesOf } from "./leases.ts";
import { RETENTION } from "./limits.ts";
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
  return [...events, ...lossesOf(state, agentId, { nowMs, most: Infinity })];
}

/** The first of what an agent loses that dies with too much for one batch; nothing of others. */
export function firstLossesOf(state: State, agentId: string, nowMs: number): Event[] {
  const { leases, elections, tasks } = state;
  const held = [leases.byHolder, elections.byCandidate, tasks.byClaimer];
  const most = RETENTION.lossesAtOnce;
  if (held.every((each) => each.of(agentId).size <= most)) return [];
  return lossesOf(state, agentId, { nowMs, most });
}

function lossesOf(
  state: State,
  agentId: string,
  { nowMs, most }: { readonly nowMs: number; readonly most: number },
): Event[] {
  const events: Event[] = [];
  for (const lease of firstOf(leasesOf(state, agentId), most)) {
    events.push({ type: "lease.released", lease, cause: "holder died" });
  }
  for (const group of firstOf(state.elections.byCandidate.of(agentId), most)) {
    events.push(...leave(state, { group, agentId }, nowMs));
  }
  const claimed = firstOf(state.tasks.byClaimer.of(agentId), most);
  return [...events, ...giveUp(state, claimed, { reason: deathReason(agentId), nowMs })];
}

function* firstOf<T>(all: Iterable<T>, most: number): Generator<T> {
  let count = 0;
  for (const each of all) {
    if (count >= most) return;
    count += 1;
    yield each;
  }
}

/** Why its tasks were given up. */
export function deathReason(agentId: string): string {
  return `agent ${agentId} died`;
}
