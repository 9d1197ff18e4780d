/** `rollcall find`: which agents can do what somebody needs, in that somebody's words. */
import type { Agent } from "../../core/agents.ts";
import { lookOf, note } from "../print.ts";
import { tableRows, type ListSpec } from "../listing.ts";
import { operation } from "../operation.ts";

const VIEW: Pick<ListSpec<Agent>, "columns" | "key"> = {
  columns: [
    { title: "ID", cell: ({ agentId }, { id }) => id(agentId) },
    { title: "NAME", least: 12, cell: ({ card }) => card.name },
    { title: "CAN", least: 16, cell: ({ card }) => capabilitiesOf(card) },
    { title: "DESCRIPTION", least: 24, isExtra: true, cell: ({ card }) => card.description },
    { title: "TOOLS", least: 10, isExtra: true, cell: ({ card }) => card.tools.join(", ") },
  ],
  key: ({ agentId }) => agentId,
};

function capabilitiesOf({ capabilities }: Agent["card"]): string {
  return capabilities.map(({ name, description }) => description || name).join(", ");
}

export const find = operation("agents.find", {
  words: { query: "[QUERY…]", tool: "--tool TOOL", limit: "--limit N" },
  more: "It ends with 1 when none is found.",
  examples: [
    { call: "rollcall find read scanned invoices", does: "in plain words" },
    { call: "rollcall find summarise --tool browser --limit 3", does: "that have the tool" },
  ],
  isNothing: ({ agents }) => agents.length === 0,
  async show({ agents }, { context }) {
    if (agents.length === 0) {
      return note(context, "no registered agent fits; `rollcall agents` lists them");
    }
    const look = { look: lookOf(context), isWhole: !context.out.isTerminal };
    for (const line of tableRows(VIEW, { items: agents }, look)) await context.out.line(line);
  },
});
