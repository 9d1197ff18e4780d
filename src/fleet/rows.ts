/** The whole fleet of a state: every source in its row, every row in its place. */
import type { Report } from "../core/reports.ts";
import type { State } from "../core/state.ts";
import { EVERYTHING, sees, type Sight } from "../core/visibility.ts";
import { inOrder, type HeadlineOptions } from "./headline.ts";
import { rowIdOf } from "./identity.ts";
import { entryReport, entryRowId } from "./a2a-agents.ts";
import { jobReports, jobsOfRow } from "./job-agents.ts";
import { keeperReport } from "./keeper-agents.ts";
import { rowOf, type Row } from "./row.ts";

export interface RowsOptions extends HeadlineOptions {
  /** Rows are made of the sources that are seen: those of others leave no trace in them. */
  readonly sight?: Sight;
}

/** The rows that need a person come first. */
export function rowsOf(state: State, options: RowsOptions): Row[] {
  const { sight = EVERYTHING } = options;
  const rows: Row[] = [];
  for (const [id, sources] of groups(state, sight)) {
    rows.push(rowOf({ id, sources, jobs: jobsOfRow(state, id, sight) }, options));
  }
  return inOrder(rows);
}

export function rowNamed(state: State, id: string, options: RowsOptions): Row | undefined {
  const { sight = EVERYTHING } = options;
  const sources = groups(state, sight).get(id);
  return sources && rowOf({ id, sources, jobs: jobsOfRow(state, id, sight) }, options);
}

function groups(state: State, sight: Sight): Map<string, Report[]> {
  const byRow = new Map<string, Report[]>();
  const add = (report: Report, id = rowIdOf(state, report)) => {
    if (!sees(sight, report)) return;
    const group = byRow.get(id);
    if (group) group.push(report);
    else byRow.set(id, [report]);
  };
  for (const { report } of state.reports.byAlias.values()) add(report);
  // A source of jobs is made of those that are seen: it is nobody else's.
  for (const report of jobReports(state, sight)) add({ ...report, owner: sight.owner });
  for (const entry of state.agents.byId.values()) add(keeperReport(state, entry));
  for (const record of state.directory.byUrl.values()) {
    const report = entryReport(record);
    if (report) add(report, entryRowId(state, report, record.entry));
  }
  return byRow;
}
