/**
 * One agent, many names: a status file, a registration, an address. Reports say whose they are, and
 * which other aliases are the same agent's; an alias claimed by another belongs to that row. A
 * principal can claim what is its own; the sources of the daemon's own user, any.
 */
import type { Report } from "../core/reports.ts";
import type { State } from "../core/state.ts";

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
