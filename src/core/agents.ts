/**
 * An agent is here as long as it says so: it registers with a ttl and sends heartbeats.
 *
 *   register          ttl passes               ttl passes again, or deregister
 *  ──────────▶ alive ────────────▶ unreachable ────────────────────────────────▶ dead ──▶ forgotten
 *                ▲                     │
 *                └───── heartbeat ─────┘
 *
 * Heartbeats are soft: they move a deadline in memory and are not recorded, because a million
 * agents send tens of thousands of them a second and only the transitions mean anything to anyone.
 * The rules are in registry.ts; the consequences of a death are in death.ts.
 */
import { ownerOf } from "./by.ts";
import { Heap, earliest, type Slot } from "./heap.ts";
import { refuse, type Refusal } from "./decide.ts";
import { invalid, key } from "./fields.ts";
import { RETENTION } from "./limits.ts";
import { Holdings } from "./shares.ts";
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
  /** The principal that registered it; absent for `local`. */
  readonly owner?: string | undefined;
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
  /** Soft: when it was last found unreachable; a start from a snapshot gives a grace instead. */
  missedAtMs: number;
  readonly timer: Slot<string>;
  /** The digest of the key that it got; absent where it got none. */
  keyHash: string | undefined;
  /** Whether the key was used: from then on it is needed. */
  isBound: boolean;
}

export class Agents {
  readonly byId = new Map<string, AgentEntry>();
  /** Of the living: those that missed a heartbeat. */
  readonly unreachable = new Set<string>();
  /** Of the living: when to look at one again. */
  readonly deadlines = new Heap<string>();
  /** Of the living: whose they are. */
  readonly living = new Holdings();
  /** Of the dead: when to forget one. */
  readonly graves = new Heap<string>();
}

export type AgentCommand =
  | {
      readonly type: "agent.register";
      readonly card: AgentCard;
      readonly ttlMs: number;
      /** The SHA-256 of the key that its caller gets, in hex. */
      readonly keyHash?: string | undefined;
    }
  | { readonly type: "agent.heartbeat"; readonly agentId: string }
  | { readonly type: "agent.deregister"; readonly agentId: string };

export interface AgentReplies {
  "agent.register": Agent;
  "agent.heartbeat": null;
  "agent.deregister": null;
}

export type AgentEvent =
  | {
      readonly type: "agent.registered";
      readonly agent: Agent;
      readonly keyHash?: string | undefined;
    }
  /** A call came with its key: from now on every call for it needs the key. */
  | { readonly type: "agent.bound"; readonly agentId: string }
  | { readonly type: "agent.unreachable"; readonly agent: Agent }
  | { readonly type: "agent.recovered"; readonly agent: Agent }
  | { readonly type: "agent.died"; readonly agent: Agent; readonly cause: DeathCause }
  | { readonly type: "agent.forgotten"; readonly agentId: string };

export type DeathCause = "deregistered" | "silent";

/** The agent, if it is not dead; what acts for an agent asks this first. */
export function livingAgent(state: State, agentId: string): AgentEntry | Refusal {
  const entry = state.agents.byId.get(agentId);
  if (entry && entry.agent.status !== "dead") return entry;
  return entry ? refuse("NOT_FOUND", `agent ${agentId} is dead`) : unknownAgent(agentId);
}

/** An id that nobody could have is a slip of the caller. */
export function unknownAgent(agentId: string): Refusal {
  return invalid(key("agentId", agentId)) ?? refuse("NOT_FOUND", `no agent ${agentId}`);
}

/** Takes a heartbeat of an agent that is alive; false when it takes a recorded transition. */
export function beat(state: State, agentId: string, nowMs: number): boolean {
  const entry = state.agents.byId.get(agentId);
  if (entry?.agent.status !== "alive") return false;
  entry.seenAtMs = nowMs;
  return true;
}

/** Whether its key was used, so that its callers have to bring it. */
export function needsKey({ agents }: State, agentId: string): boolean {
  return agents.byId.get(agentId)?.isBound === true;
}

/** Whether it missed a heartbeat, and a heartbeat would bring it back. */
export function isUnreachable({ agents }: State, agentId: string): boolean {
  return agents.byId.get(agentId)?.agent.status === "unreachable";
}

export function evolveAgent(state: State, event: AgentEvent): void {
  const { agents } = state;
  switch (event.type) {
    case "agent.registered":
      restoreAgent(state, event.agent);
      knownAgent(agents, event.agent.agentId).keyHash = event.keyHash;
      return;
    case "agent.bound":
      knownAgent(agents, event.agentId).isBound = true;
      return;
    case "agent.unreachable":
    case "agent.recovered": {
      const entry = knownAgent(agents, event.agent.agentId);
      entry.agent = event.agent;
      entry.seenAtMs = event.agent.lastHeartbeatAtMs;
      if (event.type === "agent.unreachable") {
        entry.missedAtMs = state.lastAtMs;
        agents.unreachable.add(event.agent.agentId);
      } else agents.unreachable.delete(event.agent.agentId);
      agents.deadlines.move(entry.timer, deadlineOf(state, entry));
      return;
    }
    case "agent.died": {
      const entry = knownAgent(agents, event.agent.agentId);
      entry.agent = event.agent;
      entry.seenAtMs = event.agent.lastHeartbeatAtMs;
      agents.unreachable.delete(event.agent.agentId);
      agents.living.remove(ownerOf(event.agent));
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
  agents.byId.set(agent.agentId, {
    agent,
    seenAtMs,
    missedAtMs: 0,
    timer,
    keyHash: undefined,
    isBound: false,
  });
  if (agent.status === "unreachable") agents.unreachable.add(agent.agentId);
  if (agent.status !== "dead") agents.living.add(ownerOf(agent));
}

/** The digest of an agent's key, and whether it was used. */
export interface KeptKey {
  readonly agentId: string;
  readonly keyHash: string;
  readonly isBound: boolean;
}

export function keysOf({ agents }: State): readonly KeptKey[] {
  const keys: KeptKey[] = [];
  agents.byId.forEach(({ agent: { agentId }, keyHash, isBound }) => {
    if (keyHash !== undefined) keys.push({ agentId, keyHash, isBound });
  });
  return keys;
}

export function restoreKey({ agents }: State, { agentId, keyHash, isBound }: KeptKey): void {
  const entry = knownAgent(agents, agentId);
  entry.keyHash = keyHash;
  entry.isBound = isBound;
}

function knownAgent(agents: Agents, agentId: string): AgentEntry {
  const entry = agents.byId.get(agentId);
  if (!entry) throw new Error(`the log speaks of agent ${agentId} before it registered`);
  return entry;
}

/** When an agent that says nothing more changes its status. */
export function deadlineOf(
  { graceFromMs }: State,
  { agent, seenAtMs, missedAtMs }: AgentEntry,
): number {
  const missesAtMs = Math.max(seenAtMs, graceFromMs) + agent.ttlMs;
  if (agent.status !== "unreachable") return missesAtMs;
  // Found late, it still has a full ttl to be heard: its heartbeat may be waiting at our door.
  return Math.max(missesAtMs, missedAtMs) + agent.ttlMs;
}

export function dueAgent(agents: Agents): number | undefined {
  return earliest(agents.deadlines.nextAt(), agents.graves.nextAt());
}

/** The agent as it is now, its last heartbeat included. */
export function asSeen({ agent, seenAtMs }: AgentEntry): Agent {
  return { ...agent, lastHeartbeatAtMs: seenAtMs };
}

/** The dead one that goes when there are too many of them. */
export function oldestDead(agents: Agents): string | undefined {
  return agents.graves.size >= RETENTION.deadAgents ? agents.graves.first() : undefined;
}
