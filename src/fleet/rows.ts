/**
 * The whole fleet of a state, made from its facts: every source in its row, every row in its place.
 * So rows of the past are made, and so the rows that are kept (view.ts) must be.
 */
import { SortedList } from "../core/sorted-list.ts";
import type { State } from "../core/state.ts";
import { EVERYTHING, type Sight } from "../core/visibility.ts";
import type { Source } from "./axes.ts";
import { byRowPlace, rowPlaceOf, type HeadlineOptions, type RowPlace } from "./headline.ts";
import { jobsOfRow } from "./job-agents.ts";
import { rowOf, type Row } from "./row.ts";
import { sourceReport, rowIdOfSource, sourceKeys } from "./sources.ts";

export interface RowsOptions extends HeadlineOptions {
  /** Rows are made of the sources that are seen: those of others leave no trace in them. */
  readonly sight?: Sight;
}

/** The rows, those that need a person first; in steps, so that others are served meanwhile. */
export function* makeRows(state: State, options: RowsOptions): Generator<void, Row[]> {
  const { sight = EVERYTHING, nowMs } = options;
  const sourcesOf = new Map<string, Source[]>();
  for (const key of sourceKeys(state)) {
    const report = sourceReport(state, key, { sight });
    if (report) {
      const id = rowIdOfSource(state, key, report);
      const sources = sourcesOf.get(id);
      if (sources) sources.push(report);
      else sourcesOf.set(id, [report]);
    }
    yield;
  }
  const rows = new SortedList<RowPlace & { readonly row: Row }>(byRowPlace);
  for (const [id, sources] of sourcesOf) {
    const row = rowOf({ id, sources, jobs: jobsOfRow(state, id, { sight }) }, options);
    rows.add({ id, place: rowPlaceOf(row, nowMs), row });
    yield;
  }
  return Array.from(rows.from(), ({ row }) => row);
}
