/** The agents of the registry, as reports: they are rows like all others. */
import type { AgentEntry } from "../core/agents.ts";
import type { Facts, Liveness, Judgement } from "../core/reports.ts";
import type { State } from "../core/state.ts";
import { EVERYTHING } from "../core/visibility.ts";
import type { Source } from "./axes.ts";
import { joinedRow, OWN_ID } from "./identity.ts";

/** The row that its card names. */
export function rowNamedByAgent({ agent }: AgentEntry): string | undefined {
  return agent.card.metadata[OWN_ID];
}

export function keeperReport(state: State, entry: AgentEntry, sight = EVERYTHING): Source {
  const { agent, seenAtMs } = entry;
  const { agentId, owner, card, diedAtMs, lastHeartbeatAtMs, registeredAtMs } = agent;
  const reportedAtMs = Math.max(seenAtMs, diedAtMs);
  const workspace = card.metadata["workspace"];
  const work = agent.status === "dead" ? undefined : workOf(state, entry);
  return {
    alias: `keeper:${agentId}`,
    owner,
    agentId: joinedRow(state, { named: rowNamedByAgent(entry), own: agentId, owner }, sight),
    links: [],
    // As recorded: heartbeats come all the time, and rows must not change places for them.
    order: Math.max(lastHeartbeatAtMs, diedAtMs),
    reportedAtMs,
    registeredAtMs,
    ...(work && { sinceMs: work.sinceMs }),
    facts: {
      name: card.name,
      ...(workspace !== undefined && { workspace }),
      liveness: livenessOf(entry),
      ...(agent.status !== "dead" && { activity: work?.activity ?? IDLE }),
    },
  };
}

function livenessOf({ agent, seenAtMs }: AgentEntry): Judgement<Liveness> {
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

type ActivityFact = NonNullable<Facts["activity"]>;

const IDLE: ActivityFact = { value: "idle", rule: "it holds no task and no lease" };

interface Work {
  readonly activity: ActivityFact;
  readonly sinceMs: number;
}

/** Its work, by the first task or lease that it holds. */
function workOf({ tasks, leases }: State, { agent }: AgentEntry): Work | undefined {
  const [taskId = ""] = tasks.byClaimer.of(agent.agentId);
  const task = tasks.byId.get(taskId)?.task;
  if (task) return working("it has claimed a task", task.type, task.claimedAtMs);
  const [leaseId = ""] = leases.byHolder.of(agent.agentId);
  const lease = leases.byTask.get(leaseId)?.lease;
  return lease && working("it holds a lease", lease.taskId, lease.acquiredAtMs);
}

function working(rule: string, task: string, sinceMs: number): Work {
  return { activity: { value: "working", rule, task }, sinceMs };
}
