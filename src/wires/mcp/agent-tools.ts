/** Tools to find agents, to list the fleet, and to see which agent needs a person. */
import { z } from "zod";
import type { Agent } from "../../core/agents.ts";
import { RollcallError } from "../../core/errors.ts";
import { tooLong } from "../../core/fields.ts";
import { FIELD } from "../../core/limits.ts";
import { ANY } from "../../fleet/filters.ts";
import { HEADLINES } from "../../fleet/headline.ts";
import type { AgentQuestion } from "../../fleet/inbox.ts";
import type { Row } from "../../fleet/row.ts";
import { check } from "../../operations/parse.ts";
import { TABLE } from "../../operations/table.ts";
import {
  fromA2a,
  fromRegistry,
  FOUND,
  MCP_QUESTION,
  mcpQuestionOf,
  MCP_ROW,
  mcpRowOf,
} from "./agent-shapes.ts";
import { mayDo } from "./caller.ts";
import { shownCard } from "./data.ts";
import type { ListedAgent } from "./directory.ts";
import { MODEL_TEXT, URI } from "./limits.ts";
import { READS, tool, type Tool } from "./tool.ts";

const findAgents = tool({
  name: "find_agents",
  title: "Find agents by what they can do",
  description:
    "Find living agents by what you need done, in plain words: by meaning, not only by word. " +
    "Best first, from those registered here (source rollcall) and from the A2A directory " +
    "(source a2a, which have a url to send messages to).",
  input: z.strictObject({
    query: z.string().describe("What is needed, in a sentence or a few words"),
    tools: z.array(z.string()).default([]).describe("Only agents that have all of these tools"),
    limit: z.int().min(1).max(MODEL_TEXT.foundMost).default(MODEL_TEXT.foundDefault),
  }),
  output: z.object({ agents: z.array(FOUND) }),
  hints: READS,
  access: TABLE.agents.find.access,
  async run({ query, tools, limit }, { engine, by, search, directory, signal }) {
    check(tooLong("query", query, FIELD.descriptionLength));
    // Cards of A2A agents say what they are skilled at, not which tools they have.
    const isWide = tools.length === 0 && mayDo({ engine }, by, TABLE.directory.list.access);
    const [here, listed] = await Promise.all([
      search.find({ query, tools, limit, signal }),
      isWide ? directory.search(query, limit) : [],
    ]);
    const agents = inTurns(here, listed).slice(0, limit);
    return { summary: `${counted(agents.length, "agent")} found, best first.`, data: { agents } };
  },
});

/** The best of each, then the second best…: their scores cannot be compared. */
function inTurns(here: readonly Agent[], listed: readonly ListedAgent[]): z.input<typeof FOUND>[] {
  const found: z.input<typeof FOUND>[] = [];
  for (let i = 0; i < Math.max(here.length, listed.length); i += 1) {
    const [agent, entry] = [here[i], listed[i]];
    if (agent) found.push(fromRegistry(agent));
    if (entry) found.push(fromA2a(entry));
  }
  return found;
}

const listAgents = tool({
  name: "list_agents",
  title: "List the agents that are here",
  description:
    "The fleet: every agent that is known, what it does and how it is, those that need a person " +
    "first. Those that are gone, or silent for more than a day, are left out unless asked for.",
  input: z.strictObject({
    headline: z.array(z.enum(HEADLINES)).default([]).describe("Only these; none means all"),
    include_gone: z.boolean().default(false),
    limit: z.int().min(1).max(MODEL_TEXT.rowsMost).default(MODEL_TEXT.rowsDefault),
  }),
  output: z.object({
    total: z.int().describe("How many fit, also beyond the limit"),
    counts: z.record(z.string(), z.int()).describe("Agents of the whole fleet by headline"),
    agents: z.array(MCP_ROW),
  }),
  hints: READS,
  access: TABLE.fleet.list.access,
  async run({ headline, include_gone, limit }, { fleet }) {
    const here = HEADLINES.filter((each) => include_gone || each !== "GONE");
    const isNamed = headline.length > 0;
    const filters = { ...ANY, headline: isNamed ? headline : here, all: isNamed || include_gone };
    const { rows, total, counts } = await fleet.page(filters, { limit });
    const summary = `${counted(total, "agent")}, ${rows.length} shown.`;
    return { summary, data: { total, counts, agents: rows.map(mcpRowOf) } };
  },
});

const getAgent = tool({
  name: "get_agent",
  title: "Look at one agent",
  description:
    "One agent with all that is known of it: by its id, the beginning of one, an alias, its " +
    "name, or the url under which it is in the A2A directory.",
  input: z.strictObject({ agent: z.string().describe("Its id, alias, name or A2A url") }),
  output: z.object({
    agent: MCP_ROW.nullable().describe("Its row of the fleet; null when it has none"),
    a2a: z
      .object({ url: z.string(), tier: z.string(), card: z.record(z.string(), z.unknown()) })
      .nullable()
      .describe("Its entry of the A2A directory; null when it has none"),
  }),
  hints: READS,
  access: TABLE.fleet.list.access,
  advice: {
    NOT_FOUND: "call list_agents (include_gone: true) or find_agents to see which there are.",
    INVALID_ARGUMENT: "several may be meant: call get_agent again with one of the ids.",
  },
  quotesAgents: true,
  async run({ agent: given }, { fleet, directory, permit, by }) {
    check(tooLong("agent", given, URI.length));
    permit(by, TABLE.fleet.get.access, { id: given });
    const isUrl = /^https?:/i.test(given);
    if (isUrl) permit(by, TABLE.directory.get.access, { url: given });
    const listed = isUrl ? await directory.get(given) : undefined;
    const a2a = listed
      ? { url: listed.url, tier: listed.tier, card: shownCard(listed.card) }
      : null;
    const row = await rowNamed(fleet, given, a2a !== null);
    if (row) permit(by, TABLE.fleet.get.access, { id: row.id });
    const agent = row && mcpRowOf(row);
    return {
      summary: row ? `It is ${row.headline}.` : "It is in the directory.",
      data: { agent, a2a },
    };
  },
});

/** Null only for one that the directory knows. */
async function rowNamed(
  fleet: { find(given: string): Promise<{ readonly row: Row }> },
  given: string,
  isListed: boolean,
): Promise<Row | null> {
  for (const name of isListed ? [given, `a2a:${given}`] : [given]) {
    try {
      return (await fleet.find(name)).row;
    } catch (error) {
      const isUnknown = error instanceof RollcallError && error.code === "NOT_FOUND";
      if (!isUnknown || !isListed) throw error;
    }
  }
  return null;
}

const whoNeedsMe = tool({
  name: "who_needs_me",
  title: "Which agents wait for a person",
  description:
    "What agents wait for a person to answer (a permission, a choice, a text, a login, a " +
    "budget), the one that has waited longest first. Only a person may answer: do not answer " +
    "for them.",
  input: z.strictObject({
    limit: z.int().min(1).max(MODEL_TEXT.rowsMost).default(MODEL_TEXT.rowsDefault),
  }),
  output: z.object({ total: z.int(), questions: z.array(MCP_QUESTION) }),
  hints: READS,
  access: TABLE.questions.list.access,
  async run({ limit }, { fleet }) {
    const { questions: open } = await fleet.questions(["open"]);
    const questions = open.slice(0, limit).map((each: AgentQuestion) => mcpQuestionOf(each));
    const waiting = `${counted(open.length, "question")} ${open.length === 1 ? "waits" : "wait"}`;
    const summary = open.length === 0 ? "No agent waits for a person." : `${waiting} for a person.`;
    return { summary, data: { total: open.length, questions } };
  },
});

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

export const AGENT_TOOLS: readonly Tool[] = [findAgents, listAgents, getAgent, whoNeedsMe];
