/** For tests: few jobs in few states, picked by small numbers. */
import type { JobRecord } from "../../../src/core/job-records.ts";
import { isTerminal } from "../../../src/core/jobs/outcome.ts";

const STATUSES = ["pending", "running", "success", "error", "cancelled", "timed_out"] as const;

export interface PickedJob {
  readonly who: number;
  readonly what: number;
  /** When it happened, long ago or just now. */
  readonly atMs: number;
}

export function someJob({ who, what, atMs }: PickedJob): JobRecord {
  const status = STATUSES[what % STATUSES.length] ?? "pending";
  const isOver = isTerminal(status);
  const isStarted = status !== "pending" && what % 4 !== 3;
  return {
    id: `job_${who % 6}`,
    agent: who % 2 === 0 ? "echo" : "echo@1.0.0",
    principal: "somebody",
    node: `n${who % 2}`,
    parent: who % 3 === 0 ? "job_0" : "",
    status,
    submittedAtMs: atMs,
    startedAtMs: isStarted ? atMs : 0,
    endedAtMs: isOver ? atMs : 0,
    restarts: what % 5 === 4 ? 1 : 0,
    code: status === "error" ? "INTERNAL" : "",
    reason: "",
  };
}
