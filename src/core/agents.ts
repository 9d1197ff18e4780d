/**
 * An agent is here as long as it says so: it registers with a ttl and sends heartbeats.
 *
 *   register          ttl passes               ttl passes again, or deregister
 *  ──────────▶ alive ────────────▶ unreachable ────────────────────────────────▶ dead ──▶ forgotten
 *                ▲                     │
 *                └───── heartbeat ─────┘
 *
 * Heartbeats are soft: they move a deadline in memory and are not recorded, because a million agents
 * send tens of thousands of them a second and only the transitions mean anything to anyone. What a
 * death takes with it (leases, candidacies, claimed tasks) is in death.ts.
 */
import { Heap, earliest, type Slot } from "./heap.ts";
import { decided, refuse, type Decision, type Moment, type Refusal } from "./decide.ts";
import { deathOf } from "./death.ts";
import type { Event } from "./events.ts";
import { atMost, invalid, key, line, prose, ttl, type Problem } from "./fields.ts";
import { COUNT, FIELD, RETENTION, TTL } from "./limits.ts";
import type { State } from "./state.ts";

export type AgentStatus = "alive" | "unreachable" | "dead";

export interface Capability {
  readonly name: string;
  readonly description: string;
}

export interface AgentCard {
  readonly name: string;
  readonly description: string;
  readonly version: string;
  readonly capabilities: readonly Capability[];
  readonly tools: readonly string[];
  readonly metadata: Readonly<Record<string, string>>;
}

export interface Agent {
  readonly agentId: string;
  readonly card: AgentCard;
  readonly status: AgentStatus;
  readonly ttlMs: number;
  readonly registeredAtMs: number;
  /** As of the last recorded transition; `seenAtMs` of the entry is the true one. */
  readonly lastHeartbeatAtMs: number;
  /** 0 while it lives. */
  readonly diedAtMs: number;
}

export interface AgentEntry {
  agent: Agent;
  /** Soft: moved by heartbeats, not recorded. */
  seenAtMs: number;
  readonly timer: Slot<string>;
}

export class Agents {
  readonly byId = new Map<string, AgentEntry>();
  /** Of the living: when to look at one again. */
  readonly deadlines = new Heap<string>();
  /** Of the dead: when to forget one. */
  readonly graves = new Heap<string>();
}

export type AgentCommand =
  | { readonly type: "agent.register"; readonly card: AgentCard; readonly ttlMs: number }
  | { readonly type: "agent.heartbeat"; readonly agentId: string }
  | { readonly type: "agent.deregister"; readonly agentId: string };

export interface AgentReplies {
  "agent.register": Agent;
  "agent.heartbeat": null;
  "agent.deregister": null;
}

export type AgentEvent =
  | { readonly type: "agent.registered"; readonly agent: Agent }
  | { readonly type: "agent.unreachable"; readonly agent: Agent }
  | { readonly type: "agent.recovered"; readonly agent: Agent }
  | { readonly type: "agent.died"; readonly agent: Agent; readonly cause: DeathCause }
  | { readonly type: "agent.forgotten"; readonly agentId: string };

export type DeathCause = "deregistered" | "silent";

export function decideAgent(
  state: State,
  command: AgentCommand,
  moment: Moment,
): Decision<Event, Agent | null> {
  switch (command.type) {
    case "agent.register":
      return register(state, command.card, command.ttlMs, moment);
    case "agent.heartbeat": {
      const entry = livingAgent(state, command.agentId);
      if ("ok" in entry) return entry;
      if (entry.agent.status === "alive") return decided([], null);
      const agent: Agent = {
        ...entry.agent,
        status: "alive",
        lastHeartbeatAtMs: moment.nowMs,
      };
      return decided([{ type: "agent.recovered", agent }], null);
    }
    case "agent.deregister": {
      const entry = state.agents.byId.get(command.agentId);
      if (!entry) return refuse("NOT_FOUND", `no agent ${command.agentId}`);
      // Gone is what the caller wanted: saying it twice is not an error.
      if (entry.agent.status === "dead") return decided([], null);
      return decided(deathOf(state, entry, "deregistered", moment.nowMs), null);
    }
  }
}

function register(
  state: State,
  card: AgentCard,
  ttlMs: number,
  moment: Moment,
): Decision<Event, Agent> {
  const refusal = invalid(ttl("ttl_seconds", ttlMs), ...cardProblems(card));
  if (refusal) return refusal;
  if (state.agents.deadlines.size >= COUNT.agents) {
    return refuse("LIMIT_EXCEEDED", `there are already ${COUNT.agents} agents`);
  }
  const agent: Agent = {
    agentId: moment.newId(),
    card,
    status: "alive",
    ttlMs: ttlMs === 0 ? TTL.agentDefaultMs : ttlMs,
    registeredAtMs: moment.nowMs,
    lastHeartbeatAtMs: moment.nowMs,
    diedAtMs: 0,
  };
  return decided([{ type: "agent.registered", agent }], agent);
}

function cardProblems(card: AgentCard): Problem[] {
  return [
    key("card.name", card.name, FIELD.nameLength),
    prose("card.description", card.description, FIELD.descriptionLength),
    line("card.version", card.version, FIELD.versionLength),
    atMost("card.tools", card.tools.length, FIELD.tools),
    ...card.tools.map((tool, i) => key(`card.tools[${i}]`, tool, FIELD.nameLength)),
    atMost("card.capabilities", card.capabilities.length, FIELD.capabilities),
    ...card.capabilities.flatMap(({ name, description }, i) => [
      key(`card.capabilities[${i}].name`, name, FIELD.nameLength),
      prose(`card.capabilities[${i}].description`, description, FIELD.descriptionLength),
    ]),
    atMost("card.metadata", Object.keys(card.metadata).length, FIELD.metadataEntries),
    ...Object.entries(card.metadata).flatMap(([name, value]) => [
      key("card.metadata key", name, FIELD.nameLength),
      prose(`card.metadata[${name}]`, value, FIELD.metadataValueLength),
    ]),
  ];
}

/** The agent, if it is not dead; what acts for an agent asks this first. */
export function livingAgent(state: State, agentId: string): AgentEntry | Refusal {
  const entry = state.agents.byId.get(agentId);
  if (entry && entry.agent.status !== "dead") return entry;
  return refuse("NOT_FOUND", entry ? `agent ${agentId} is dead` : `no agent ${agentId}`);
}

/** Takes a heartbeat of an agent that is alive; false when it takes a recorded transition. */
export function beat(state: State, agentId: string, nowMs: number): boolean {
  const entry = state.agents.byId.get(agentId);
  if (entry?.agent.status !== "alive") return false;
  entry.seenAtMs = nowMs;
  return true;
}

export function evolveAgent(state: State, event: AgentEvent): void {
  const { agents } = state;
  switch (event.type) {
    case "agent.registered":
      restoreAgent(state, event.agent);
      return;
    case "agent.unreachable":
    case "agent.recovered": {
      const entry = knownAgent(agents, event.agent.agentId);
      entry.agent = event.agent;
      entry.seenAtMs = event.agent.lastHeartbeatAtMs;
      agents.deadlines.move(entry.timer, deadlineOf(state, entry));
      return;
    }
    case "agent.died": {
      const entry = knownAgent(agents, event.agent.agentId);
      entry.agent = event.agent;
      agents.deadlines.remove(entry.timer);
      agents.graves.move(entry.timer, event.agent.diedAtMs + RETENTION.deadAgentMs);
      return;
    }
    case "agent.forgotten": {
      agents.graves.remove(knownAgent(agents, event.agentId).timer);
      agents.byId.delete(event.agentId);
      return;
    }
  }
}

/** Puts an agent, whatever its status, where it belongs. */
export function restoreAgent({ agents }: State, agent: Agent): void {
  const seenAtMs = agent.lastHeartbeatAtMs;
  const timer =
    agent.status === "dead"
      ? agents.graves.add(agent.diedAtMs + RETENTION.deadAgentMs, agent.agentId)
      : agents.deadlines.add(seenAtMs + agent.ttlMs, agent.agentId);
  agents.byId.set(agent.agentId, { agent, seenAtMs, timer });
}

function knownAgent(agents: Agents, agentId: string): AgentEntry {
  const entry = agents.byId.get(agentId);
  if (!entry) throw new Error(`the log speaks of agent ${agentId} before it registered`);
  return entry;
}

function deadlineOf(state: State, { agent, seenAtMs }: AgentEntry): number {
  const since = Math.max(seenAtMs, state.graceFromMs);
  return since + (agent.status === "unreachable" ? 2 * agent.ttlMs : agent.ttlMs);
}

export function dueAgent(agents: Agents): number | undefined {
  return earliest(agents.deadlines.nextAt(), agents.graves.nextAt());
}

/** The transition of one agent whose time has come; nothing when its timer rang early. */
export function expireAgent(state: State, nowMs: number): readonly Event[] {
  const { agents } = state;
  const grave = agents.graves.takeDue(nowMs);
  if (grave) return [{ type: "agent.forgotten", agentId: grave.value }];
  const timer = agents.deadlines.takeDue(nowMs);
  const entry = timer && agents.byId.get(timer.value);
  if (!entry) return [];
  const deadlineMs = deadlineOf(state, entry);
  if (deadlineMs > nowMs) {
    agents.deadlines.move(entry.timer, deadlineMs);
    return [];
  }
  if (entry.agent.status === "unreachable") return deathOf(state, entry, "silent", nowMs);
  const agent: Agent = { ...asSeen(entry), status: "unreachable" };
  return [{ type: "agent.unreachable", agent }];
}

/** The agent as it is now, its last heartbeat included. */
export function asSeen({ agent, seenAtMs }: AgentEntry): Agent {
  return { ...agent, lastHeartbeatAtMs: seenAtMs };
}

/** The dead one that goes when there are too many of them. */
export function oldestDead(agents: Agents): string | undefined {
  return agents.graves.size >= RETENTION.deadAgents ? agents.graves.first() : undefined;
}
