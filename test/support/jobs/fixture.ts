/** For tests of what looks at jobs: a job that nobody runs. */
import type { Job } from "../../../src/core/jobs.ts";

let made = 0;

export function testJob(fields: Partial<Job> = {}): Job {
  made += 1;
  return {
    id: `job_${made}`,
    agent: "echo@1.0.0",
    principal: "somebody",
    node: "solo",
    parent: "",
    status: "running",
    submittedAtMs: 0,
    startedAtMs: 0,
    endedAtMs: 0,
    restarts: 0,
    code: "",
    reason: "",
    session: "sess_1",
    lease: {},
    traceId: "0".repeat(31) + "1",
    ...fields,
  };
}
