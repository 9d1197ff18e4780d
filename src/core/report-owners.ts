/**
 * Checks that a report stands in a row of its caller. That an alias and a registered agent are
 * spoken for by their owner is known before (acting.ts); a row that others reported on, and what a
 * link names, are theirs as well. An operator speaks for all, and so does the daemon, which is its
 * own user's.
 */
import { ownerOf, type By } from "./by.ts";
import { refuse, type Refusal } from "./decide.ts";
import type { Report } from "./reports.ts";
import type { State } from "./state.ts";
import { hostOf } from "./wires.ts";

type ReportOwner = Pick<Report, "owner">;

const HOST = "host:";

/** The owner of all that an outpost reports of its host. */
export function hostOwner(host: string): string {
  return HOST + host;
}

/** The host whose outpost a record is of; undefined for all other records. */
export function reportingHost({ owner = "" }: ReportOwner): string | undefined {
  return owner.startsWith(HOST) ? owner.slice(HOST.length) : undefined;
}

/** The host that an agent's id names: `box` of nightly@box, and of arcp@box:indexer. */
export function hostOfAgent(agentId: string): string | undefined {
  return hostOf(agentId) ?? /@([^@:]+)$/.exec(agentId)?.[1];
}

/** Whether what one source says of an agent counts for what another, of the same agent, says. */
export function countsFor(source: Report, other: ReportOwner): boolean {
  return isTrusted(source) || ownerOf(source) === ownerOf(other);
}

/** The daemon's own user and operators are believed on every agent. */
export function isTrusted({ owner, isOperators }: Pick<Report, "owner" | "isOperators">): boolean {
  return owner === undefined || isOperators === true;
}

/**
 * The owner of the reports on an agent, but for those that are believed on every agent; undefined
 * where there are none. `without` the report of an alias, it is who would be.
 */
export function holderOf({ reports }: State, agentId: string, without = ""): string | undefined {
  for (const alias of reports.byAgent.of(agentId)) {
    const report = alias === without ? undefined : reports.byAlias.get(alias)?.report;
    if (report && !isTrusted(report)) return ownerOf(report);
  }
  return undefined;
}

export function mayNotReport(state: State, report: Report, by: By): Refusal | undefined {
  if (by.isOperator) return undefined;
  const { alias, agentId, links } = report;
  const host = hostOfAgent(agentId);
  const isOutposts = host !== undefined && state.outposts.byHost.has(host);
  if (isOutposts && by.principal.host !== host) {
    return refuse("PERMISSION_DENIED", `${agentId} is for the outpost of ${host} to tell`);
  }
  const before = state.reports.byAlias.get(alias)?.report;
  const said: (readonly [string, ReportOwner | undefined])[] = [];
  // The same agent and the same links as before were decided then.
  if (before?.agentId !== agentId) said.push([agentId, standingOn(state, agentId)]);
  for (const link of links) {
    if (!before?.links.includes(link)) said.push([link, linkedTo(state, link)]);
  }
  const { name } = by.principal;
  const foreign = said.find(([, record]) => record && ownerOf(record) !== name)?.[0];
  if (foreign === undefined) return undefined;
  return refuse("PERMISSION_DENIED", `${foreign} is not of ${name}`);
}

/** Whose the row of an agent is; of a registered agent its own rule has decided (acting.ts). */
function standingOn(
  { agents, directory, reports }: State,
  agentId: string,
): ReportOwner | undefined {
  if (agents.byId.has(agentId)) return undefined;
  const entry = directory.byUrl.get(agentId)?.entry;
  if (entry?.card) return entry;
  const [first = ""] = reports.byAgent.of(agentId);
  return reports.byAlias.get(first)?.report;
}

const KEEPER = "keeper:";
const A2A = "a2a:";

function linkedTo({ agents, directory, reports }: State, link: string): ReportOwner | undefined {
  if (link.startsWith(KEEPER)) return agents.byId.get(link.slice(KEEPER.length))?.agent;
  if (link.startsWith(A2A)) return directory.byUrl.get(link.slice(A2A.length))?.entry;
  return reports.byAlias.get(link)?.report;
}
