/**
 * The fleet of this machine without a daemon: what its status files say, by the very rules that the
 * daemon makes its rows with.
 */
import { hostname } from "node:os";
import { atOnce } from "../../core/steps.ts";
import { evolveReport } from "../../core/reports.ts";
import { emptyState } from "../../core/state.ts";
import { countsAt } from "../../fleet/census.ts";
import { ANY, isWanted } from "../../fleet/filters.ts";
import { rowMeant } from "../../fleet/lookup.ts";
import type { Row } from "../../fleet/row.ts";
import { makeRows } from "../../fleet/rows.ts";
import { DEFAULT_PATIENCE } from "../../fleet/stuck.ts";
import type { FleetList, FleetRow } from "../../wires/api/answers.ts";
import { FRESHNESS } from "../../wires/files/limits.ts";
import { vitalityOf } from "../../wires/files/liveness.ts";
import { readStatusDir, type StatusReading } from "../../wires/files/read.ts";
import { reportOf } from "../../wires/files/report.ts";
import { watchStatusDir } from "../../wires/files/watch.ts";
import { processesNow, writerIn } from "../../wires/files/writers.ts";
import type { ListChanges, ListFetch } from "../listing.ts";
import { warningsOf } from "../status/agents.ts";
import type { AgentQuery, FleetQuery, FleetSource, ListedFleet } from "./source.ts";

/** Its sequence is always 0: files have no log. */
export class FilesFleet implements FleetSource {
  readonly place: string;
  /** The last readings. */
  #readings: readonly StatusReading[] = [];

  constructor(folder: string) {
    this.place = folder;
  }

  /** One line about each file that cannot be believed, or not quite. */
  warnings(): readonly string[] {
    return warningsOf(this.#readings);
  }

  async list({ all = false, needs }: FleetQuery, { limit }: ListFetch): Promise<ListedFleet> {
    const { rows, atMs } = this.#rows();
    const filters = { ...ANY, needs, all };
    const wanted = rows.filter((row) => isWanted(row, filters, atMs));
    const items = wanted.slice(0, limit);
    const total = wanted.length;
    const answer: FleetList = {
      sequence: 0,
      atMs,
      counts: countsAt(rows, atMs),
      total,
      rows: items,
    };
    return { sequence: 0, atMs, total, items, answer };
  }

  async find({ id }: AgentQuery): Promise<FleetRow> {
    const { rows, atMs } = this.#rows();
    return { sequence: 0, atMs, row: rowMeant(rows, id) };
  }

  changes({ signal }: ListChanges): AsyncIterable<unknown> {
    return watchStatusDir(this.place, { signal });
  }

  #rows(): { readonly rows: readonly Row[]; readonly atMs: number } {
    const nowMs = Date.now();
    const state = emptyState();
    const host = hostname();
    const signs = { nowMs, staleAfterMs: FRESHNESS.staleAfterMs, processes: processesNow() };
    this.#readings = readStatusDir(this.place, { nowMs });
    for (const file of this.#readings) {
      if (file.kind !== "status") continue;
      const vitality = vitalityOf({ file, writer: writerIn(file.status) }, signs);
      const report = reportOf(file, { host, ...vitality, inStateSinceMs: file.updatedAtMs });
      const known = state.reports.byAlias.get(report.alias)?.report;
      if (!known || known.order < report.order) {
        evolveReport(state, { type: "fleet.reported", report });
      }
    }
    return { rows: atOnce(makeRows(state, { nowMs, patience: DEFAULT_PATIENCE })), atMs: nowMs };
  }
}
