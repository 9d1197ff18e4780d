/** `rollcall elections`: which agent leads each group, and standing for it from a script. */
import type { ElectionRow } from "../../wires/api/answers.ts";
import { note, printFacts, who } from "../print.ts";
import { listOperation } from "../list-command.ts";
import { operation, type CommandRequest } from "../operation.ts";
import { clean } from "../terminal/clean.ts";
import type { FactRow } from "../terminal/table.ts";
import { ago, momentText } from "../terminal/time.ts";

function leaderOf({ leader, leaderName }: ElectionRow, id: (id: string) => string) {
  if (leader === "") return { text: "none", style: "yellow" } as const;
  return `${id(leader)} ${leaderName}`.trim();
}

const list = listOperation("elections.list", {
  words: { groupPrefix: "--prefix GROUP" },
  examples: [
    { call: "rollcall elections", does: "all groups" },
    { call: "rollcall elections --watch", does: "live" },
  ],
  topics: ["election.", "leader."],
  columns: [
    { title: "GROUP", least: 16, cell: ({ group }) => group },
    { title: "LEADER", least: 14, cell: (election, { id }) => leaderOf(election, id) },
    { title: "TERM", isNumber: true, cell: ({ term }) => String(term) },
    { title: "SINCE", cell: ({ electedAtMs }, { nowMs }) => ago(electedAtMs, nowMs) },
    { title: "CANDIDATES", isNumber: true, cell: ({ candidateCount }) => String(candidateCount) },
  ],
  key: ({ group }) => group,
  nothing: [
    "no elections; `rollcall elections campaign GROUP --agent AGENT` begins one",
    "no election fits; `rollcall elections` shows all",
  ],
});

const get = operation("elections.get", {
  words: { group: "GROUP" },
  examples: [{ call: "rollcall elections get planners", does: "ends with 1 when there is none" }],
  show: ({ election }, { context }) =>
    printFacts(context, [
      ["group", election.group],
      ["leader", leaderOf(election, (id) => id)],
      ["term", String(election.term)],
      ["since", momentText(election.electedAtMs, Date.now())],
      ...election.candidates.map((id): FactRow => ["candidate", id]),
    ]),
});

type ElectedLeader = Pick<ElectionRow, "leader" | "leaderName" | "term">;

/** Prints the id of the leader, if there is one. */
async function showLeader(
  { leader, leaderName, term }: ElectedLeader,
  { context, input }: CommandRequest<"elections.campaign">,
): Promise<void> {
  if (leader !== "") await context.out.line(clean(leader));
  const isItself = leader === input.agentId;
  const whose = leader === "" ? "no agent" : isItself ? "this agent" : who(leader, leaderName);
  await note(context, `${input.group}: ${whose} leads, term ${term}`);
}

const campaign = operation("elections.campaign", {
  words: { group: "GROUP", agentId: "--agent AGENT" },
  more: "It prints the id of the leader.",
  examples: [{ call: "rollcall elections campaign planners --agent web-1", does: "joins" }],
  show: ({ election }, request) => showLeader(election, request),
});

const resign = operation("elections.resign", {
  words: { group: "GROUP", agentId: "--agent AGENT" },
  more: "It prints the id of the leader, if there is one.",
  examples: [{ call: "rollcall elections resign planners --agent web-1", does: "leaves" }],
  show: ({ election }, request) => showLeader(election, request),
});

export const elections = { list, get, campaign, resign } as const;
