/**
 * The fleet of this machine without a daemon: what its status files say, by the very rules that the
 * daemon makes its rows with. It answers like a daemon, so that commands need not know.
 */
import { hostname } from "node:os";
import type { StreamItem } from "../../wires/api/client/events.ts";
import { RollcallError } from "../../core/errors.ts";
import { evolveReport } from "../../core/reports.ts";
import { emptyState } from "../../core/state.ts";
import { countsOf } from "../../fleet/census.ts";
import { rowMeant } from "../../fleet/lookup.ts";
import type { Row } from "../../fleet/row.ts";
import { rowsOf } from "../../fleet/rows.ts";
import { DEFAULT_PATIENCE } from "../../fleet/stuck.ts";
import type { FleetList, FleetRow } from "../../wires/api/answers.ts";
import { isWanted } from "../../operations/fleet-filter.ts";
import { FRESHNESS } from "../../wires/files/limits.ts";
import { livenessOf } from "../../wires/files/liveness.ts";
import { readStatusDir, type StatusReading } from "../../wires/files/read.ts";
import { reportOf } from "../../wires/files/report.ts";
import { watchStatusDir } from "../../wires/files/watch.ts";
import { processes, writerIn } from "../../wires/files/writers.ts";
import { warningsOf } from "../status/agents.ts";

type Answer = Readonly<Record<string, unknown>>;

export class FilesFleet {
  /** Where it is from, in the place of a daemon's URL. */
  readonly url: string;
  /** What was read last. */
  #readings: readonly StatusReading[] = [];

  constructor(directory: string) {
    this.url = directory;
  }

  /** `/v1/fleet` and `/v1/fleet/ID`, of now; nothing else is in the files. */
  get(path: string): Answer | undefined {
    const { pathname, searchParams } = new URL(path, "http://localhost");
    if (searchParams.has("at")) return undefined;
    const [, id] = /^\/v1\/fleet(?:\/([^/]+))?$/.exec(pathname) ?? [];
    if (id !== undefined) return { ...this.#one(decodeURIComponent(id)) };
    return pathname === "/v1/fleet" ? { ...this.#list(searchParams) } : undefined;
  }

  /** One line about each file that cannot be believed, or not quite. */
  warnings(): readonly string[] {
    return warningsOf(this.#readings);
  }

  /** What happened cannot be told, only that something did. */
  async *events({ signal }: { readonly signal?: AbortSignal }): AsyncGenerator<StreamItem> {
    for await (const _ of watchStatusDir(this.url, signal ? { signal } : {})) {
      yield { kind: "resync", after: undefined, sequence: 0 };
    }
  }

  #one(given: string): FleetRow {
    const { rows, atMs } = this.#rows();
    return { sequence: 0, atMs, row: rowMeant(rows, given) };
  }

  #list(asked: URLSearchParams): FleetList {
    const { rows, atMs } = this.#rows();
    const needs = asked.get("needs") === "me" ? "me" : undefined;
    const all = asked.get("all") === "true";
    const filters = { headline: [], workspacePrefix: "", needs, all } as const;
    const wanted = rows.filter((row) => isWanted(row, filters, atMs));
    const shown = wanted.slice(0, Number(asked.get("limit") ?? wanted.length));
    return { sequence: 0, atMs, counts: countsOf(rows), total: wanted.length, rows: shown };
  }

  #rows(): { readonly rows: readonly Row[]; readonly atMs: number } {
    const nowMs = Date.now();
    const state = emptyState();
    const host = hostname();
    const { staleAfterMs } = FRESHNESS;
    this.#readings = readStatusDir(this.url, { nowMs });
    for (const file of this.#readings) {
      if (file.kind !== "status") continue;
      const signs = { nowMs, staleAfterMs, processes };
      const liveness = livenessOf(file, signs, writerIn(file.status));
      const about = { host, liveness, inStateSinceMs: file.updatedAtMs };
      const report = reportOf(file, about);
      const known = state.reports.byAlias.get(report.alias)?.report;
      if (!known || known.order < report.order) {
        evolveReport(state, { type: "fleet.reported", report });
      }
    }
    return { rows: rowsOf(state, { nowMs, patience: DEFAULT_PATIENCE }), atMs: nowMs };
  }
}

/** Whether an error says that there is no daemon, rather than what one answers. */
export function isNobodyThere(error: unknown): error is RollcallError {
  return (
    error instanceof RollcallError &&
    error.code === "UNAVAILABLE" &&
    error.message.startsWith("no daemon")
  );
}
