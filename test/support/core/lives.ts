/** Random lives for properties, and bounds so small that every life runs into them. */
import { array, assert, nat, property, tuple } from "fast-check";
import type * as JobBounds from "../../../src/core/jobs/limits.ts";
import type { Step } from "./play.ts";

/** The same lives in every run; `ROLLCALL_SEED=7 npm test -- src/core` lives others. */
export const SEED = Number(process.env["ROLLCALL_SEED"] ?? 20_261_117);

const aStep = tuple(nat(255), nat(255), nat(255), nat(255));
export const aLife = array(aStep, { maxLength: 150, size: "max" });

/** Lives a few hundred random lives and looks at each. */
export function always(holds: (steps: readonly Step[]) => void, numRuns = 120): void {
  assert(property(aLife, holds), { numRuns, seed: SEED });
}

/** Little room for jobs and sessions. */
export function smallJobBounds({ JOBS, SESSIONS, ...others }: typeof JobBounds) {
  return {
    ...others,
    JOBS: {
      ...JOBS,
      running: 4,
      runningPerPrincipal: 3,
      queuedPerPrincipal: 2,
      cancelGraceMs: 3_000,
      restarts: 2,
      depth: 2,
      children: 4,
      childrenAtOnce: 2,
      finished: 6,
      keyTtlMs: 8_000,
      keysPerPrincipal: 3,
    },
    SESSIONS: { ...SESSIONS, resumeWindowSec: 5, perPrincipal: 2, total: 3 },
  };
}
