/** The rows of the status files in a folder, as the fleet would show each of them. */
import { situationOf, SITUATIONS } from "../../../src/fleet/headline.ts";
import { DEFAULT_PATIENCE } from "../../../src/fleet/stuck.ts";
import { readStatusDir } from "../../../src/wires/files/read.ts";
import { standingOf } from "../../../src/wires/files/standing.ts";

export function rowsIn(folder: string, nowMs: number): ReadonlyMap<string, string> {
  const rows = readStatusDir(folder, { nowMs }).map((reading) => {
    if (reading.kind !== "status") throw new Error(reading.problems.join("; "));
    const { agent_id, task } = reading.status;
    const options = { nowMs, patience: DEFAULT_PATIENCE };
    const situation = situationOf(standingOf(reading, "alive"), options);
    const { headline } = SITUATIONS[situation];
    return [agent_id, `${headline.padEnd(9)} ${task?.summary ?? ""}`.trimEnd()] as const;
  });
  return new Map(rows);
}
