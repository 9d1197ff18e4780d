/**
 * Events in words (see core/words.ts), for who follows a stream of them: names are learnt on the
 * way, and an event that a newer daemon sends and this program does not know is shown by its plain
 * fields.
 */
import type { DaemonEvent } from "../wires/api/client/events.ts";
import type { Event } from "../core/events.ts";
import { sentenceOf } from "../core/words.ts";

/** Agents by their names, as far as this stream has told them. */
export type Names = Map<string, string>;

export function describe(event: DaemonEvent, names: Names): string {
  const { topic, data } = event;
  remember(names, data["agent"]);
  try {
    // The daemon says which kind it is, and is taken at its word.
    const said = { ...data, type: topic } as unknown as Event;
    const sentence = sentenceOf(said, (id) => names.get(id));
    if (sentence !== undefined) return sentence;
  } catch {
    // It did not keep it: what it sent is shown as it is.
  }
  return plainFields(data);
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

function plainFields(data: Readonly<Record<string, unknown>>): string {
  return Object.entries(data)
    .filter(([name]) => !["type", "topic", "sequence", "at"].includes(name))
    .map(([name, value]) => `${name}=${typeof value === "string" ? value : JSON.stringify(value)}`)
    .join(" ");
}
