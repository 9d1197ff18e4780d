/** The headline of a status file: the one that the fleet gives a row of this file alone. */
import { situationOf, SITUATIONS, type Headline } from "../../fleet/headline.ts";
import { DEFAULT_PATIENCE } from "../../fleet/stuck.ts";
import type { DeriveOptions } from "./derive.ts";
import { FRESHNESS } from "./limits.ts";
import { vitalityOf, type Signs } from "./liveness.ts";
import type { StatusFile } from "./read.ts";
import { standingOf } from "./standing.ts";
import { processesNow, writerIn } from "./writers.ts";

export interface FileJudgement {
  readonly headline: Headline;
  /** Its process is not there any more. */
  readonly hasEnded: boolean;
}

export function judgeFile(file: StatusFile, signs: Signs): FileJudgement {
  const vitality = vitalityOf({ file, writer: writerIn(file.status) }, signs);
  const options = { nowMs: signs.nowMs, patience: DEFAULT_PATIENCE };
  const situation = situationOf(standingOf(file, vitality.liveness.value), options);
  return { headline: SITUATIONS[situation].headline, hasEnded: vitality.hasEnded };
}

/** Of one file, with a look at the processes of this machine. */
export function headlineOf(file: StatusFile, options: DeriveOptions): Headline {
  const { nowMs, staleAfterMs = FRESHNESS.staleAfterMs } = options;
  return judgeFile(file, { nowMs, staleAfterMs, processes: processesNow() }).headline;
}
