/** Agents as a model gets them: few fields, times it can read, text of agents as data. */
import { z } from "zod";
import type { Agent } from "../../core/agents.ts";
import type { AgentQuestion } from "../../fleet/inbox.ts";
import type { Row } from "../../fleet/row.ts";
import { isoMoment, forModel, shownOrNull } from "./data.ts";
import type { ListedAgent } from "./directory.ts";

const text = z.string();
const maybe = text.nullable();

const ASKED = z.object({
  kind: text,
  text,
  options: z.array(text),
  since: maybe,
});

export const MCP_ROW = z.object({
  id: text,
  name: text,
  headline: text.describe("NEEDS YOU, PROBLEM, WORKING, IDLE or GONE"),
  why: text,
  liveness: text,
  activity: text,
  message: maybe.describe("What it says that it does"),
  task: maybe,
  goal: maybe,
  workspace: maybe,
  question: ASKED.nullable().describe("What it waits for a person to answer"),
  outcome: maybe.describe("How its last turn or task ended"),
  last_activity: maybe,
  aliases: z.array(text).describe("What it is called on each wire"),
});

export function mcpRowOf(row: Row): z.input<typeof MCP_ROW> {
  const { blockedOn, outcome } = row;
  return {
    id: forModel(row.id),
    name: forModel(row.name),
    headline: row.headline,
    why: forModel(row.why),
    liveness: row.liveness.value,
    activity: row.activity.value,
    message: shownOrNull(row.activity.message),
    task: shownOrNull(row.activity.task),
    goal: shownOrNull(row.goal),
    workspace: shownOrNull(row.workspace),
    question: blockedOn && askedOf(blockedOn.value),
    outcome: outcome?.value ?? null,
    last_activity: isoMoment(row.lastActivityAtMs),
    aliases: row.aliases.map((each) => forModel(each)),
  };
}

function askedOf(asked: Pick<AgentQuestion, "kind" | "text" | "options" | "sinceMs">) {
  return {
    kind: asked.kind,
    text: forModel(asked.text),
    options: (asked.options ?? []).map((each) => forModel(each)),
    since: isoMoment(asked.sinceMs),
  };
}

export const MCP_QUESTION = ASKED.extend({
  agent_id: text,
  agent_name: text,
  workspace: maybe,
});

export function mcpQuestionOf(question: AgentQuestion): z.input<typeof MCP_QUESTION> {
  return {
    agent_id: forModel(question.agentId),
    agent_name: forModel(question.name),
    workspace: shownOrNull(question.workspace),
    ...askedOf(question),
  };
}

export const FOUND = z.object({
  source: z.enum(["rollcall", "a2a"]),
  id: text.describe("For the other tools; of an A2A agent its url"),
  name: text,
  description: text,
  tools: z.array(text),
  skills: z.array(text),
  tier: maybe.describe("Of an A2A agent: unverified, reachable, owner or signed"),
});

export function fromRegistry({ agentId, card }: Agent): z.input<typeof FOUND> {
  return {
    source: "rollcall",
    id: agentId,
    name: forModel(card.name),
    description: forModel(card.description),
    tools: card.tools.map((each) => forModel(each)),
    skills: card.capabilities.map(({ name }) => forModel(name)),
    tier: null,
  };
}

export function fromA2a({ url, tier, card }: ListedAgent): z.input<typeof FOUND> {
  const { name, description, skills } = card;
  const names = (Array.isArray(skills) ? (skills as readonly unknown[]) : []).slice(0, 50);
  return {
    source: "a2a",
    id: forModel(url),
    name: textIn(name),
    description: textIn(description),
    tools: [],
    skills: names.map((each) => textIn((each as { readonly name?: unknown } | null)?.name)),
    tier,
  };
}

function textIn(value: unknown): string {
  return typeof value === "string" ? forModel(value) : "";
}
