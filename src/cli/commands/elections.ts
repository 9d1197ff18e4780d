/** `rollcall elections`: which agent leads each group, and standing for it from a script. */
import { buildCommand } from "@stricli/core";
import type { ElectionDetail, ElectionRow } from "../../wires/api/answers.ts";
import type { Context } from "../context.ts";
import { actingAgent, daemonOf, itemPath, lookOf, note, printJson, read, who } from "../daemon.ts";
import { actingFlags, answerFlags, argument, listFlags, textFlag } from "../flags.ts";
import type { ActingFlags, AnswerFlags, ListFlags } from "../flags.ts";
import { about } from "../help.ts";
import { list, type Listing } from "../listing.ts";
import { clean } from "../terminal/clean.ts";
import { factLines } from "../terminal/table.ts";
import { ago, moment } from "../terminal/time.ts";

const GROUP = argument("GROUP", "The group: any text on one line");

interface Filters extends ListFlags {
  readonly prefix?: string;
}

function listing(prefix: string | undefined): Listing<ElectionRow> {
  return {
    noun: "elections",
    params: { groupPrefix: prefix },
    topics: ["election.", "leader."],
    columns: [
      { title: "GROUP", least: 16 },
      { title: "LEADER", least: 14 },
      { title: "TERM", isNumber: true },
      { title: "SINCE" },
      { title: "CANDIDATES", isNumber: true },
    ],
    cells: (election, { nowMs, id }) => [
      election.group,
      leaderOf(election, id),
      String(election.term),
      ago(election.electedAtMs, nowMs),
      String(election.candidateCount),
    ],
    key: ({ group }) => group,
    nothing:
      prefix === undefined
        ? "no elections; `rollcall elections campaign GROUP --agent AGENT` begins one"
        : "no election fits; `rollcall elections` shows all",
  };
}

function leaderOf({ leader, leaderName }: ElectionRow, id: (id: string) => string) {
  if (leader === "") return { text: "nobody", style: "yellow" } as const;
  return `${id(leader)} ${leaderName}`.trim();
}

export const electionsList = buildCommand<Filters, [], Context>({
  docs: {
    brief: "List the groups and who leads them",
    fullDescription: about(
      "List the groups and who leads them, in order of their names.",
      { call: "rollcall elections", does: "all groups" },
      { call: "rollcall elections --watch", does: "live" },
    ),
  },
  parameters: {
    flags: { prefix: textFlag("GROUP", "Only groups that begin so"), ...listFlags },
  },
  async func(flags) {
    await list(this, flags, () => listing(flags.prefix));
  },
});

export const electionsGet = buildCommand<AnswerFlags, [string], Context>({
  docs: {
    brief: "Show one group: its leader and its candidates",
    fullDescription: about("Show who leads a group, and who would next: in order of joining.", {
      call: "rollcall elections get planners",
      does: "1 when there is no such group",
    }),
  },
  parameters: { flags: answerFlags, positional: { kind: "tuple", parameters: [GROUP] } },
  async func(flags, group) {
    await using daemon = daemonOf(this, flags);
    const path = itemPath("/v1/elections", group);
    const answer = await read<{ readonly election: ElectionDetail }>(daemon, path);
    if (flags.json === true) return await printJson(this, answer);
    const { election } = answer;
    const facts = factLines(
      [
        ["group", election.group],
        ["leader", leaderOf(election, (id) => id)],
        ["term", String(election.term)],
        ["since", moment(election.electedAtMs, Date.now())],
        ...election.candidates.map((id) => ["candidate", id] as const),
      ],
      lookOf(this),
    );
    for (const line of facts) await this.out.line(line);
  },
});

/** What is answered to who joins or leaves. */
type Standing = Omit<ElectionRow, "candidateCount">;

export const electionsCampaign = buildCommand<ActingFlags, [string], Context>({
  docs: {
    brief: "Have an agent stand for a group",
    fullDescription: about(
      "Have an agent stand for a group, and print the id of who leads it: the agent itself when " +
        "nobody did. Who leads stays until it resigns or dies.",
      { call: "rollcall elections campaign planners --agent 3f2a9c1b", does: "joins" },
    ),
  },
  parameters: { flags: actingFlags, positional: { kind: "tuple", parameters: [GROUP] } },
  async func(flags, group) {
    await using daemon = daemonOf(this, flags);
    const agentId = await actingAgent(daemon, this, flags.agent);
    const answer = await daemon.post("/v1/elections/campaign", { group, agentId });
    if (flags.json === true) return await printJson(this, answer);
    const { leader, leaderName, term } = answer["election"] as Standing;
    await this.out.line(clean(leader));
    const whose = leader === agentId ? "this agent" : who(leader, leaderName);
    await note(this, `${group}: ${whose} leads, term ${term}`);
  },
});

export const electionsResign = buildCommand<ActingFlags, [string], Context>({
  docs: {
    brief: "Have an agent stand no longer",
    fullDescription: about(
      "Have an agent stand for a group no longer; if it led, the candidate that has waited " +
        "longest leads at once. Prints the id of who leads now, if anybody does.",
      { call: "rollcall elections resign planners --agent 3f2a9c1b", does: "leaves" },
    ),
  },
  parameters: { flags: actingFlags, positional: { kind: "tuple", parameters: [GROUP] } },
  async func(flags, group) {
    await using daemon = daemonOf(this, flags);
    const agentId = await actingAgent(daemon, this, flags.agent);
    const answer = await daemon.post("/v1/elections/resign", { group, agentId });
    if (flags.json === true) return await printJson(this, answer);
    const { leader, leaderName, term } = answer["election"] as Standing;
    if (leader !== "") await this.out.line(clean(leader));
    const whose = leader === "" ? "nobody" : who(leader, leaderName);
    await note(this, `${group}: ${whose} leads, term ${term}`);
  },
});
