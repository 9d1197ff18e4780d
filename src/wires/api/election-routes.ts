/** Election groups over HTTP: who leads, who stands, and joining and leaving. */
import { Hono } from "hono";
import { z } from "zod";
import type { GroupEntry } from "../../core/elections.ts";
import { RollcallError } from "../../core/errors.ts";
import { key } from "../../core/fields.ts";
import type { State } from "../../core/state.ts";
import type { Engine } from "../../engine/engine.ts";
import type { ElectionDetail, ElectionRow } from "./answers.ts";
import { nameOf } from "./names.ts";
import { byKey, matching, pageOf, sendPage } from "./pages.ts";
import { bodyOf, check, LIST_QUERY, queryOf } from "./parse.ts";

const LIST = z.strictObject({
  ...LIST_QUERY,
  groupPrefix: z.string().default(""),
  leader: z.string().optional(),
});

const CANDIDACY = z.strictObject({ group: z.string(), agentId: z.string() });

const ORDER = byKey<ElectionRow>(({ group }) => group);
const ENTRY_ORDER = byKey<GroupEntry>(({ election }) => election.group);

export function electionRoutes(engine: Engine): Hono {
  const routes = new Hono();
  routes.get("/elections", async (c) => {
    const { groupPrefix, leader, ...asked } = queryOf(c, LIST);
    const isWanted = ({ election }: GroupEntry) =>
      election.group.startsWith(groupPrefix) &&
      (leader === undefined || election.leader === leader);
    const found = await engine.read((state, sequence) => {
      const groups = matching(state.elections.byGroup.values(), isWanted);
      const page = pageOf(groups, ENTRY_ORDER, asked);
      return { sequence, page: { ...page, items: page.items.map((each) => rowOf(state, each)) } };
    });
    return sendPage(c, { name: "elections", order: ORDER, ...found });
  });
  routes.get("/elections/:group", async (c) => {
    queryOf(c, z.strictObject({}));
    const group = c.req.param("group");
    check(key("group", group));
    const found = await engine.read((state, sequence) => {
      const entry = state.elections.byGroup.get(group);
      return entry && { election: detailOf(state, entry), sequence };
    });
    if (!found) throw new RollcallError("NOT_FOUND", `no election group ${group}`);
    return c.json(found);
  });
  for (const verb of ["campaign", "resign"] as const) {
    routes.post(`/elections/${verb}`, async (c) => {
      const body = await bodyOf(c, CANDIDACY);
      check(key("group", body.group), key("agentId", body.agentId));
      const election = await engine.execute({ type: `election.${verb}`, ...body });
      const leaderName = engine.peek((state) => nameOf(state, election.leader));
      return c.json({ election: { ...election, leaderName } });
    });
  }
  return routes;
}

function rowOf(state: State, { election, candidates }: GroupEntry): ElectionRow {
  const leaderName = nameOf(state, election.leader);
  return { ...election, leaderName, candidateCount: candidates.size };
}

function detailOf(state: State, entry: GroupEntry): ElectionDetail {
  return { ...rowOf(state, entry), candidates: [...entry.candidates] };
}
