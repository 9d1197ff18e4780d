/** An agent, or a card of the directory, as the search sees it: text of bounded length. */
import type { AgentCard } from "../core/agents.ts";
import { SEARCH } from "./limits.ts";

export interface Document {
  readonly id: string;
  readonly name: string;
  /** The description and the capabilities. */
  readonly about: string;
  readonly tools: readonly string[];
  readonly isAlive: boolean;
}

export type SearchableCard = Pick<AgentCard, "name" | "description" | "capabilities" | "tools">;

export function documentOf(id: string, card: SearchableCard, isAlive: boolean): Document {
  const { name, description, tools } = card;
  const abilities = card.capabilities.map((each) => `${each.name}: ${each.description}`);
  const about = [description, ...abilities].filter(Boolean).join("\n");
  const room = Math.max(0, SEARCH.textLength - name.length - 1);
  return { id, name, about: about.slice(0, room), tools, isAlive };
}

/** All of it as one text. */
export function documentText({ name, about, tools }: Document): string {
  const all = [name, about, tools.join(" ")].filter(Boolean).join("\n");
  return all.slice(0, SEARCH.textLength);
}
