/**
 * One agent, many names: a status file, a registration, an address. Reports say whose they are, and
 * which other aliases are the same agent's; an alias claimed by another belongs to that row.
 */
import type { Report } from "../core/reports.ts";
import type { State } from "../core/state.ts";

/** The row a report belongs to. */
export function rowIdOf({ reports }: State, { alias, agentId }: Report): string {
  const path = [{ alias, agentId }];
  for (;;) {
    const last = path.at(-1);
    const claimer = last && lastOf(reports.linked.of(last.alias));
    const claim = claimer === undefined ? undefined : reports.byAlias.get(claimer)?.report;
    if (!claim) return last?.agentId ?? agentId;
    const back = path.findIndex((each) => each.alias === claim.alias);
    // They claim each other: all of them take the same one of their ids.
    if (back !== -1) return path.slice(back).reduce(smaller).agentId;
    path.push(claim);
  }
}

function smaller<T extends { readonly agentId: string }>(a: T, b: T): T {
  return b.agentId < a.agentId ? b : a;
}

function lastOf(aliases: ReadonlySet<string>): string | undefined {
  let last: string | undefined;
  for (const each of aliases) last = each;
  return last;
}
