/**
 * Who may report what. A source belongs to the principal that first reported under its alias, and a
 * row to the one that made it: a registered agent, an entry of the directory, or the first report
 * on it. Others would speak in its name: they report on rows of their own. An operator speaks for
 * all; so does the daemon, which is its own user's.
 */
import type { By } from "./by.ts";
import type { Refusal } from "./decide.ts";
import { notOwned } from "./ownership.ts";
import type { Report } from "./reports.ts";
import type { State } from "./state.ts";

export function mayNotReport(state: State, report: Report, by: By): Refusal | undefined {
  const { alias, agentId, links } = report;
  const before = state.reports.byAlias.get(alias)?.report;
  const said: (readonly [string, Owned | undefined])[] = [[alias, before]];
  // The same agent and the same links as before were decided then.
  if (before?.agentId !== agentId) said.push([agentId, rowOf(state, agentId)]);
  for (const link of links) {
    if (!before?.links.includes(link)) said.push([link, linkedTo(state, link)]);
  }
  for (const [what, record] of said) {
    const refusal = record && notOwned(by, record, `report on ${what}`);
    if (refusal) return refusal;
  }
  return undefined;
}

type Owned = Pick<Report, "owner">;

function rowOf({ agents, reports }: State, agentId: string): Owned | undefined {
  const registered = agents.byId.get(agentId)?.agent;
  if (registered) return registered;
  const [first = ""] = reports.byAgent.of(agentId);
  return reports.byAlias.get(first)?.report;
}

const KEEPER = "keeper:";
const A2A = "a2a:";

function linkedTo({ agents, directory, reports }: State, link: string): Owned | undefined {
  if (link.startsWith(KEEPER)) return agents.byId.get(link.slice(KEEPER.length))?.agent;
  if (link.startsWith(A2A)) return directory.byUrl.get(link.slice(A2A.length))?.entry;
  return reports.byAlias.get(link)?.report;
}
