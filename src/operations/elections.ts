/** Election groups: who leads, who stands, and joining and leaving. */
import { z } from "zod";
import { byKey } from "../core/pages.ts";
import type { Election, GroupEntry } from "../core/elections.ts";
import { RollcallError } from "../core/errors.ts";
import { key } from "../core/fields.ts";
import type { State } from "../core/state.ts";
import { ACTING_AGENT, moment, OWNER, prefix, SEQUENCE, SOME_ID, text, whole } from "./fields.ts";
import { FILTERED, listJson, listPage, PAGE } from "./lists.ts";
import { agentNameOf } from "./names.ts";
import { operation, type Answer, type Uses } from "./operation.ts";
import { check } from "./parse.ts";

const GROUP = text("The group: any text on one line", "planners");

/** The answer to an agent that joins or leaves a group. */
const STANDING = z.strictObject({
  group: GROUP,
  leader: text("The agent that leads; empty while none does", SOME_ID),
  owner: OWNER,
  term: whole("Grows with every change of leader", 3),
  electedAtMs: moment("Since when it leads"),
  leaderName: z.string().meta({ examples: ["planner"] }),
});

export const ELECTION = STANDING.extend({
  candidateCount: whole("How many stand for it", 2),
}).meta({ id: "Election" });

const ORDER = byKey<Pick<Election, "group">>(({ group }) => group);

const list = operation({
  path: "/v1/elections",
  effect: "reads",
  access: { action: "election.read", resource: "group:*" },
  brief: "List the election groups",
  about: "List the groups and who leads them, in order of their names.",
  input: z.strictObject({
    ...PAGE,
    groupPrefix: prefix("Only groups with this prefix"),
    leader: text("Only groups that this agent leads").optional(),
  }),
  output: z.strictObject({ ...FILTERED, elections: z.array(ELECTION) }),
  async run({ engine }: Uses<"engine">, { groupPrefix, leader, ...page }) {
    const isWanted = ({ election }: GroupEntry) =>
      election.leader === leader && election.group.startsWith(groupPrefix);
    const { items, ...facts } = await listPage(
      {
        engine,
        list: ({ elections: all }) => all,
        prefix: groupPrefix,
        isWanted: leader === undefined ? undefined : isWanted,
        show: (each, state) => rowOf(state, each),
      },
      page,
    );
    return { ...facts, elections: items };
  },
  json: listJson("elections", ORDER),
});

const get = operation({
  path: "/v1/elections/{group}",
  effect: "reads",
  access: { action: "election.read", resource: "group:{group}" },
  brief: "Show one election group",
  about: "Show who leads a group, and who would next: the candidates in order of joining.",
  input: z.strictObject({ group: GROUP }),
  output: z.strictObject({
    election: ELECTION.extend({ candidates: z.array(ACTING_AGENT) }),
    sequence: SEQUENCE,
  }),
  async run({ engine }: Uses<"engine">, { group }) {
    check(key("group", group));
    const found = await engine.read((state, sequence) => {
      const entry = state.elections.byGroup.get(group);
      if (!entry) return undefined;
      return { election: { ...rowOf(state, entry), candidates: [...entry.candidates] }, sequence };
    });
    if (!found) throw new RollcallError("NOT_FOUND", `no election group ${group}`);
    return found;
  },
});

const campaign = operation({
  path: "/v1/elections/campaign",
  effect: "sets",
  access: { action: "election.campaign", resource: "group:{group}" },
  brief: "Have an agent stand for a group",
  about:
    "Have an agent stand for a group: it leads at once when no other does. The leader stays " +
    "until it resigns or dies.",
  input: z.strictObject({ group: GROUP, agentId: ACTING_AGENT }),
  output: z.strictObject({ election: STANDING }),
  async run({ engine }: Uses<"engine">, input, { by }) {
    const election = await engine.execute({ type: "election.campaign", ...input }, by);
    return { election: engine.peek((state) => standingOf(state, election)) };
  },
});

const resign = operation({
  path: "/v1/elections/resign",
  effect: "ends",
  access: { action: "election.resign", resource: "group:{group}" },
  brief: "Have an agent stand no longer",
  about:
    "Have an agent stand for a group no longer. If it led, the candidate that has waited longest " +
    "leads at once.",
  input: campaign.input,
  output: campaign.output,
  async run({ engine }: Uses<"engine">, input, { by }) {
    const election = await engine.execute({ type: "election.resign", ...input }, by);
    return { election: engine.peek((state) => standingOf(state, election)) };
  },
});

export const elections = { list, get, campaign, resign } as const;

function standingOf(state: State, election: Election): Answer<typeof STANDING> {
  return { ...election, leaderName: agentNameOf(state, election.leader) };
}

function rowOf(state: State, { election, candidates }: GroupEntry): Answer<typeof ELECTION> {
  return { ...standingOf(state, election), candidateCount: candidates.size };
}
