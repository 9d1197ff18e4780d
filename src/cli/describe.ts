/**
 * Events in words, for people: who, what, and the number that matters, most telling first. A new
 * kind of event does not compile until it has its sentence here; one that a newer daemon sends and
 * this program does not know is shown by its plain fields.
 */
import type { Event, Topic } from "../core/events.ts";
import type { DaemonEvent } from "../client/events.ts";
import { shortId } from "./daemon.ts";
import { shortDuration } from "./terminal/time.ts";

/** The events with this topic: some share their shape with others. */
type EventOf<T extends Topic, E = Event> = E extends { readonly type: infer Types }
  ? T extends Types
    ? E
    : never
  : never;

type Sentences = { readonly [T in Topic]: (event: EventOf<T>) => string };

/** Agents by their names, as far as this stream has told them. */
export type Names = Map<string, string>;

export function describe(event: DaemonEvent, names: Names): string {
  const { topic, data } = event;
  remember(names, data["agent"]);
  const sentences = sentencesFor(names);
  const sentence = Object.hasOwn(sentences, topic) ? sentences[topic as Topic] : undefined;
  try {
    // The topic picked the sentence, so the event is of its kind, if the daemon kept its word.
    if (sentence) return (sentence as (event: unknown) => string)(data);
  } catch {
    // It did not: what it sent is shown as it is.
  }
  return plainFields(data);
}

function sentencesFor(names: Names): Sentences {
  const who = (id: string) => {
    const name = names.get(id);
    return name ? `${name} (${shortId(id)})` : shortId(id);
  };
  return {
    "agent.registered": ({ agent }) =>
      `${who(agent.agentId)} is here, ttl ${shortDuration(agent.ttlMs)}` +
      listed(", tools", agent.card.tools),
    "agent.unreachable": ({ agent }) =>
      `${who(agent.agentId)} missed its heartbeat of ${shortDuration(agent.ttlMs)}`,
    "agent.recovered": ({ agent }) => `${who(agent.agentId)} is back`,
    "agent.died": ({ agent, cause }) =>
      cause === "silent" ? `${who(agent.agentId)} is dead: silent` : `${who(agent.agentId)} left`,
    "agent.forgotten": ({ agentId }) => `${who(agentId)} is forgotten`,
    "lease.acquired": ({ lease }) =>
      `${lease.taskId} held by ${who(lease.holder)} for ${shortDuration(lease.ttlMs)}, ` +
      `token ${lease.token}`,
    "lease.renewed": ({ lease }) =>
      `${lease.taskId} kept by ${who(lease.holder)} for ${shortDuration(lease.ttlMs)}, ` +
      `token ${lease.token}`,
    "lease.expired": ({ lease }) => `${lease.taskId} is free: ${who(lease.holder)} let it expire`,
    "lease.released": ({ lease, cause }) =>
      cause === "released"
        ? `${lease.taskId} is free: ${who(lease.holder)} released it`
        : `${lease.taskId} is free: ${who(lease.holder)} is gone`,
    "election.joined": ({ group, agentId }) => `${group}: ${who(agentId)} stands for election`,
    "election.left": ({ group, agentId }) => `${group}: ${who(agentId)} no longer stands`,
    "leader.changed": ({ election }) =>
      election.leader
        ? `${election.group}: ${who(election.leader)} leads, term ${election.term}`
        : `${election.group}: nobody leads, term ${election.term}`,
    "election.forgotten": ({ group }) => `${group} is forgotten`,
    "policy.set": ({ policy }) =>
      `${policy.id}: ${policy.effect} ${policy.subject} to ${policy.action} ${policy.resource}`,
    "policy.deleted": ({ id }) => `${id} is gone`,
    "task.created": ({ task }) =>
      `${shortId(task.id)} ${task.type} waits` + listed(" for tools", task.requiredTools),
    "task.claimed": ({ taskId, claim }) =>
      `${shortId(taskId)} taken by ${who(claim.agentId)}, token ${claim.token}`,
    "task.renewed": ({ taskId }) => `${shortId(taskId)} is still worked on`,
    "task.completed": ({ taskId, agentId }) => `${shortId(taskId)} done by ${who(agentId)}`,
    "task.requeued": ({ taskId, agentId, reason }) =>
      `${shortId(taskId)} waits again, ${who(agentId)} gave it up: ${reason}`,
    "task.died": ({ taskId, agentId, reason }) =>
      `${shortId(taskId)} is dead, last with ${who(agentId)}: ${reason}`,
    "task.forgotten": ({ taskId }) => `${shortId(taskId)} is forgotten`,
    "node.leading": ({ node, epoch }) => `${node} leads, epoch ${epoch}`,
    "node.resumed": ({ node, unseenMs }) => `${node} is back after ${shortDuration(unseenMs)}`,
  };
}

function remember(names: Names, agent: unknown): void {
  if (typeof agent !== "object" || agent === null || !("agentId" in agent)) return;
  const card = "card" in agent ? agent.card : undefined;
  if (typeof card !== "object" || card === null || !("name" in card)) return;
  // Bounded: a tail may run for weeks.
  if (names.size >= MAX_NAMES) names.clear();
  names.set(String(agent.agentId), String(card.name));
}

const MAX_NAMES = 10_000;

function listed(title: string, items: readonly string[]): string {
  return items.length === 0 ? "" : `${title} ${items.join(", ")}`;
}

function plainFields(data: Readonly<Record<string, unknown>>): string {
  return Object.entries(data)
    .filter(([name]) => !["type", "topic", "sequence", "at"].includes(name))
    .map(([name, value]) => `${name}=${typeof value === "string" ? value : JSON.stringify(value)}`)
    .join(" ");
}
