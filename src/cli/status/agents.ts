/** The contents of a folder of status files for display: rows in order, counts, warnings. */
import { countsOf, type Counts } from "../../fleet/census.ts";
import { inDisplayOrder, type DerivedFile } from "../../wires/files/derive.ts";
import { judgeFile, type FileJudgement } from "../../wires/files/judgement.ts";
import type { StatusReading } from "../../wires/files/read.ts";
import { processesNow } from "../../wires/files/writers.ts";
import { clean } from "../terminal/clean.ts";
import { truncate } from "../terminal/width.ts";

export interface StatusFilter {
  readonly staleAfterMs: number;
  /** Only those that wait for a person. */
  readonly needsMe: boolean;
}

export interface AgentRow extends DerivedFile, FileJudgement {
  readonly ageMs: number;
}

export interface StatusAgents {
  readonly rows: readonly AgentRow[];
  /** Of all agents, also of those that are not shown. */
  readonly counts: Counts;
  readonly warnings: readonly string[];
}

export function agentsOf(
  readings: Iterable<StatusReading>,
  { staleAfterMs, needsMe }: StatusFilter,
  nowMs: number,
): StatusAgents {
  const all = [...readings];
  const files = all.filter((reading) => reading.kind === "status");
  const signs = { nowMs, staleAfterMs, processes: processesNow() };
  const rows = inDisplayOrder(files, signs).map(({ file, state }): AgentRow => {
    const ageMs = Math.max(0, nowMs - file.updatedAtMs);
    const { headline, hasEnded } = judgeFile(file, signs);
    return { file, state, headline, ageMs, hasEnded };
  });
  return {
    rows: needsMe ? rows.filter(({ headline }) => headline === "NEEDS YOU") : rows,
    counts: countsOf(rows),
    warnings: warningsOf(all),
  };
}

/** Long enough for every honest problem. */
const MOST_COLUMNS = 1000;

/** One line about each file that cannot be believed, or not quite. */
export function warningsOf(readings: readonly StatusReading[]): readonly string[] {
  return readings.map(warningOf).filter((warning) => warning !== undefined);
}

function warningOf(reading: StatusReading): string | undefined {
  const problem = problemOf(reading);
  return problem && `warning: ${truncate(clean(problem), MOST_COLUMNS)}`;
}

function problemOf(reading: StatusReading): string | undefined {
  const { path } = reading;
  if (reading.kind === "status") {
    if (reading.oddities.length === 0) return undefined;
    const { agent_id: id, runtime } = reading.status;
    const told = {
      misnamed: `says that its agent_id is ${JSON.stringify(id)}`,
      ahead: `is dated ${runtime.updated_at}, ahead of this machine's clock`,
    };
    return `${path} ${reading.oddities.map((oddity) => told[oddity]).join(" and ")}`;
  }
  const problems = reading.problems.join("; ");
  switch (reading.reason) {
    case "json":
      return `ignored invalid JSON ${path}: ${problems}`;
    case "status":
      return `ignored invalid status ${path}: ${problems}`;
    case "unreadable":
    case "missing":
      return `ignored unreadable ${path}: ${problems}`;
  }
}
