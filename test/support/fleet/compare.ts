/** For tests: whether the rows that are kept are those that the facts give. */
import type { State } from "../../../src/core/state.ts";
import type { Sight } from "../../../src/core/visibility.ts";
import { countsAt } from "../../../src/fleet/census.ts";
import {
  ALL,
  ANY,
  hostsOfAliases,
  isWanted,
  type FleetFilters,
} from "../../../src/fleet/filters.ts";
import { HEADLINES } from "../../../src/fleet/headline.ts";
import type { Row } from "../../../src/fleet/row.ts";
import { atOnce } from "../../../src/core/steps.ts";
import { makeRows } from "../../../src/fleet/rows.ts";
import { DEFAULT_PATIENCE } from "../../../src/fleet/stuck.ts";
import type { FleetView } from "../../../src/fleet/view.ts";

export interface Compared {
  readonly state: State;
  readonly nowMs: number;
  readonly sight: Sight;
}

/** What differs, in words; nothing where all is well. */
export function differences(view: FleetView, { state, nowMs, sight }: Compared): readonly string[] {
  const made = atOnce(makeRows(state, { nowMs, patience: DEFAULT_PATIENCE, sight }));
  const kept = (filters: FleetFilters) => view.indexes.page(filters, { limit: Infinity });
  const differing: string[] = [];
  const compare = (what: string, one: unknown, other: unknown) => {
    if (isSame(one, other)) return;
    const [is, shouldBe] = [JSON.stringify(one), JSON.stringify(other)];
    if (is !== shouldBe) differing.push(`${what}: kept ${is}, made ${shouldBe}`);
  };
  const rows = kept(ALL).items.map((each) => view.row(state, each, nowMs));
  compare("rows", rows, made);
  compare("counts", view.indexes.counts, countsAt(made, nowMs));
  compare("size", view.size, made.length);
  for (const [what, filters] of filtersFor(made)) {
    const wanted = made.filter((row) => isWanted(row, filters, nowMs));
    const { items, total } = kept(filters);
    compare(what, idsOf(items), idsOf(wanted));
    compare(`total of ${what}`, total, wanted.length);
  }
  return differing;
}

/** Whether they have the same JSON for certain, at a quarter of the cost of writing it. */
function isSame(one: unknown, other: unknown): boolean {
  if (Object.is(one, other)) return true;
  if (typeof one !== "object" || typeof other !== "object" || !one || !other) return false;
  if (Array.isArray(one) !== Array.isArray(other)) return false;
  const names = Object.keys(one);
  const others = Object.keys(other);
  if (names.length !== others.length) return false;
  return names.every(
    (name, i) => name === others[i] && isSame(fieldOf(one, name), fieldOf(other, name)),
  );
}

function fieldOf(record: object, name: string): unknown {
  return (record as Readonly<Record<string, unknown>>)[name];
}

function idsOf(rows: readonly Pick<Row, "id">[]): readonly string[] {
  return rows.map(({ id }) => id);
}

function* filtersFor(rows: readonly Row[]): Generator<readonly [string, FleetFilters]> {
  yield ["those that are shown", ANY];
  yield ["those that need me", { ...ANY, needs: "me" }];
  for (const headline of HEADLINES) yield [headline, { ...ALL, headline: [headline] }];
  for (const host of new Set(rows.flatMap(({ aliases }) => hostsOfAliases(aliases)))) {
    yield [`on ${host}`, { ...ANY, host }];
    yield [`below / on ${host}`, { ...ALL, host, workspacePrefix: "/" }];
  }
  for (const workspace of new Set(rows.flatMap((row) => row.workspace ?? []))) {
    yield [`below ${workspace}`, { ...ALL, workspacePrefix: workspace.slice(0, -1) }];
  }
}
