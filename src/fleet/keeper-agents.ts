/** What the registry knows of its own agents, as a report: they are rows like all others. */
import type { AgentEntry } from "../core/agents.ts";
import type { Facts, Liveness, Report, Ruled } from "../core/reports.ts";
import type { State } from "../core/state.ts";

/** What a card says to join its agent to a row that others report on. */
export const OWN_ID = "rollcall.agent_id";

export function keeperReport(state: State, entry: AgentEntry): Report {
  const { agent, seenAtMs } = entry;
  const { agentId, card, diedAtMs } = agent;
  const reportedAtMs = Math.max(seenAtMs, diedAtMs);
  const workspace = card.metadata["workspace"];
  return {
    alias: `keeper:${agentId}`,
    agentId: card.metadata[OWN_ID] ?? agentId,
    links: [],
    order: reportedAtMs,
    reportedAtMs,
    facts: {
      name: card.name,
      ...(workspace !== undefined && { workspace }),
      liveness: livenessOf(entry),
      ...(agent.status !== "dead" && { activity: activityOf(state, entry) }),
    },
  };
}

function livenessOf({ agent, seenAtMs }: AgentEntry): Ruled<Liveness> {
  switch (agent.status) {
    case "alive":
      return { value: "alive", rule: "its heartbeats come" };
    case "unreachable":
      return { value: "unreachable", rule: "it missed a heartbeat" };
    case "dead": {
      const isSilent = agent.diedAtMs - seenAtMs >= agent.ttlMs;
      return isSilent
        ? { value: "dead", rule: "its heartbeats stopped" }
        : { value: "exited", rule: "it deregistered" };
    }
  }
}

function activityOf(
  { tasks, leases }: State,
  { agent }: AgentEntry,
): NonNullable<Facts["activity"]> {
  const [taskId] = tasks.byClaimer.of(agent.agentId);
  const task = taskId === undefined ? undefined : tasks.byId.get(taskId)?.task;
  if (task) return { value: "working", rule: "it has claimed a task", task: task.type };
  const [lease] = leases.byHolder.of(agent.agentId);
  if (lease !== undefined) return { value: "working", rule: "it holds a lease", task: lease };
  return { value: "idle", rule: "it holds no task and no lease" };
}
