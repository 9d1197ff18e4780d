/** `rollcall find`: which agents can do what somebody needs, in that somebody's words. */
import { buildCommand } from "@stricli/core";
import type { Agent } from "../../core/agents.ts";
import type { Context } from "../context.ts";
import { daemonOf, lookOf, note, pathOf, printJson, read } from "../daemon.ts";
import { EXIT } from "../exit.ts";
import { answerFlags, limitFlag, textsFlag, type AnswerFlags } from "../flags.ts";
import { about } from "../help.ts";
import { rowsOf, type Listing } from "../listing.ts";

interface Flags extends AnswerFlags {
  readonly tool?: readonly string[];
  readonly limit?: number;
}

const LISTING: Listing<Agent> = {
  noun: "agents",
  params: {},
  topics: [],
  columns: [
    { title: "ID" },
    { title: "NAME", least: 12 },
    { title: "DESCRIPTION", least: 24 },
    { title: "TOOLS", least: 10, isExtra: true },
  ],
  cells: ({ agentId, card }, { id }) => [
    id(agentId),
    card.name,
    card.description,
    card.tools.join(", "),
  ],
  key: ({ agentId }) => agentId,
  nothing: "no living agent fits; `rollcall agents` shows who is here",
};

export const find = buildCommand<Flags, readonly string[], Context>({
  docs: {
    brief: "Find agents by what they are good at",
    fullDescription: about(
      "Find agents that are alive by what they are good at, best first: by meaning, not only by " +
        "word. Without a query it lists those with the tools, last seen first. Nobody found is 1.",
      { call: "rollcall find read scanned invoices", does: "in plain words" },
      { call: "rollcall find summarise --tool browser --limit 3", does: "that have the tool" },
    ),
  },
  parameters: {
    flags: {
      tool: textsFlag("TOOL", "Only those that have it; may be given several times"),
      limit: limitFlag,
      ...answerFlags,
    },
    positional: {
      kind: "array",
      parameter: { brief: "What is needed, in words", parse: String, placeholder: "QUERY" },
    },
  },
  async func({ tool, limit, ...flags }, ...words) {
    await using daemon = daemonOf(this, flags);
    const path = pathOf("/v1/find", { query: words.join(" "), tool, limit });
    const answer = await read<{ readonly agents: readonly Agent[] }>(daemon, path);
    if (answer.agents.length === 0) this.endWith(EXIT.nothingFound);
    if (flags.json === true) return await printJson(this, answer);
    if (answer.agents.length === 0) return await note(this, LISTING.nothing);
    const look = { look: lookOf(this), isWhole: !this.out.isTerminal };
    for (const line of rowsOf(LISTING, { items: answer.agents }, look)) await this.out.line(line);
  },
});
