/** The rules for agents: register, heartbeat, deregister, expiry (agents.ts draws their life). */
import { asSeen, deadlineOf, livingAgent, unknownAgent } from "./agents.ts";
import type { Agent, AgentCard, AgentCommand } from "./agents.ts";
import { newOwner } from "./by.ts";
import { deathOf, firstLossesOf } from "./death.ts";
import { decided, type Decision, type Moment } from "./decide.ts";
import type { Event } from "./events.ts";
import { atMost, invalid, key, line, prose, tooLong, ttl, type Problem } from "./fields.ts";
import { FIELD, TTL } from "./limits.ts";
import { beyondShare, SHARED, wishOf } from "./shares.ts";
import type { State } from "./state.ts";

export function decideAgent(
  state: State,
  command: AgentCommand,
  moment: Moment,
): Decision<Event, Agent | null> {
  switch (command.type) {
    case "agent.register":
      return register(state, command, moment);
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
      if (!entry) return unknownAgent(command.agentId);
      // Gone is what the caller wanted: saying it twice is not an error.
      if (entry.agent.status === "dead") return decided([], null);
      return decided(deathOf(state, entry, { cause: "deregistered", nowMs: moment.nowMs }), null);
    }
  }
}

function register(
  state: State,
  { card, ttlMs, keyHash }: AgentCommand & { readonly type: "agent.register" },
  moment: Moment,
): Decision<Event, Agent> {
  const refusal = invalid(ttl("ttlMs", ttlMs), ...cardProblems(card));
  if (refusal) return refusal;
  const { living } = state.agents;
  const full = beyondShare(SHARED.agents, wishOf(living, moment.by.principal.name));
  if (full) return full;
  const agent: Agent = {
    agentId: moment.newId(),
    owner: newOwner(moment.by),
    card,
    status: "alive",
    ttlMs: ttlMs === 0 ? TTL.agentDefaultMs : ttlMs,
    registeredAtMs: moment.nowMs,
    lastHeartbeatAtMs: moment.nowMs,
    diedAtMs: 0,
  };
  return decided([{ type: "agent.registered", agent, keyHash }], agent);
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
    tooLong("card", JSON.stringify(card), FIELD.cardLength),
  ];
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
  if (entry.agent.status === "unreachable") {
    const losses = firstLossesOf(state, entry.agent.agentId, nowMs);
    if (losses.length === 0) return deathOf(state, entry, { cause: "silent", nowMs });
    agents.deadlines.move(entry.timer, deadlineMs);
    return losses;
  }
  const agent: Agent = { ...asSeen(entry), status: "unreachable" };
  return [{ type: "agent.unreachable", agent }];
}
