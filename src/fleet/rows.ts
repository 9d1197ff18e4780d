/** The whole fleet of a state: every source in its row, every row in its place. */
import type { Report } from "../core/reports.ts";
import type { State } from "../core/state.ts";
import { inOrder, type HeadlineOptions } from "./headline.ts";
import { rowIdOf } from "./identity.ts";
import { entryReport, entryRowId } from "./a2a-agents.ts";
import { jobReports, jobsOfRow } from "./job-agents.ts";
import { keeperReport } from "./keeper-agents.ts";
import { rowOf, type Row } from "./row.ts";

/** The rows that need a person come first. */
export function rowsOf(state: State, options: HeadlineOptions): Row[] {
  const rows: Row[] = [];
  for (const [id, sources] of groups(state)) {
    rows.push(rowOf({ id, sources, jobs: jobsOfRow(state, id) }, options));
  }
  return inOrder(rows);
}

export function rowNamed(state: State, id: string, options: HeadlineOptions): Row | undefined {
  const sources = groups(state).get(id);
  return sources && rowOf({ id, sources, jobs: jobsOfRow(state, id) }, options);
}

function groups(state: State): Map<string, Report[]> {
  const byRow = new Map<string, Report[]>();
  const add = (report: Report, id = rowIdOf(state, report)) => {
    const group = byRow.get(id);
    if (group) group.push(report);
    else byRow.set(id, [report]);
  };
  for (const { report } of state.reports.byAlias.values()) add(report);
  for (const report of jobReports(state)) add(report);
  for (const entry of state.agents.byId.values()) add(keeperReport(state, entry));
  for (const record of state.directory.byUrl.values()) {
    const report = entryReport(record);
    if (report) add(report, entryRowId(state, report, record.entry));
  }
  return byRow;
}
