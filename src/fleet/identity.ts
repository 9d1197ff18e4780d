/**
 * One agent, many names: a status file, a registration, an address. Reports say whose they are, and
 * which other aliases are the same agent's; an alias claimed by another belongs to that row. A
 * principal can claim what is its own; the sources of the daemon's own user, any.
 *
 * A card may name the row of its agent: it joins that unless another owner reports on it.
 */
import { ownerOf } from "../core/by.ts";
import { holderOf } from "../core/report-owners.ts";
import type { Report } from "../core/reports.ts";
import type { State } from "../core/state.ts";
import type { Sight } from "../core/visibility.ts";

/** The key of a card that names the row of its agent. */
export const OWN_ID = "rollcall.agent_id";

/** A source that stands for itself, and was registered by its owner. */
interface Registered {
  readonly owner?: string | undefined;
  /** The row that its card names. */
  readonly named: string | undefined;
  readonly own: string;
}

/** The row that an agent or an entry says it belongs to, where it may; else its own. */
export function joinedRow(state: State, { named, own, owner }: Registered, sight: Sight): string {
  if (named === undefined) return own;
  // One that sees its own sources alone has no others in its rows, and learns of none.
  if (sight.owner !== undefined) return named;
  return mayJoin(holderOf(state, named), { owner }) ? named : own;
}

/** `holder`: the owner of the reports on the row, if it has one. */
export function mayJoin(holder: string | undefined, source: Pick<Report, "owner">): boolean {
  return holder === undefined || holder === ownerOf(source);
}

/** The row a report belongs to. */
export function rowIdOf({ reports }: State, report: ReportIdentity): string {
  const path = [report];
  for (;;) {
    const last = path.at(-1) ?? report;
    const claim = claimOf(reports, last);
    if (!claim) return last.agentId;
    const back = path.findIndex((each) => each.alias === claim.alias);
    // They claim each other: all of them take the same one of their ids.
    if (back !== -1) return path.slice(back).reduce(smaller).agentId;
    path.push(claim);
  }
}

type ReportIdentity = Pick<Report, "alias" | "agentId" | "owner">;

/** The last report that says that the alias of this one is its own agent's. */
function claimOf({ linked, byAlias }: State["reports"], { alias, owner }: ReportIdentity) {
  let claim: Report | undefined;
  for (const claimer of linked.of(alias)) {
    const report = byAlias.get(claimer)?.report;
    if (report && (report.owner === undefined || report.owner === owner)) claim = report;
  }
  return claim;
}

function smaller<T extends { readonly agentId: string }>(a: T, b: T): T {
  return b.agentId < a.agentId ? b : a;
}
