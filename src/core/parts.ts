/**
 * Parts of the state that only events of their own noun change. So what is read of one is durable
 * as soon as the last of these is, whatever others are writing meanwhile.
 */
import type { Topic } from "./events.ts";
import type { State } from "./state.ts";

const NOUNS = { agents: "agent", policies: "policy" } as const satisfies Partial<
  Record<keyof State, string>
>;

export type Part = keyof typeof NOUNS;

const BY_NOUN: ReadonlyMap<string, Part> = new Map(
  Object.entries(NOUNS).map(([part, noun]) => [noun, part as Part]),
);

/** The part that such an event changes, if it is one of these. */
export function partOf(topic: Topic): Part | undefined {
  return BY_NOUN.get(topic.slice(0, topic.indexOf(".")));
}
