/** For tests of what looks at jobs: a job that nobody runs. */
import type { LeaseRequest } from "../../../src/core/jobs/lease.ts";
import { leaseOf, newGrant } from "../../../src/jobs/grant.ts";
import { Job, newRunning, type JobTerms } from "../../../src/jobs/job.ts";

let made = 0;

export function testJob(lease: LeaseRequest = {}, terms: Partial<JobTerms> = {}): Job {
  made += 1;
  const ignore = () => undefined;
  const owner = {
    id: "sess_1",
    principal: "somebody",
    head: 0,
    frameBytes: 65_536,
    takesChunks: true,
    onEvent: ignore,
    onEnded: ignore,
    onJob: ignore,
    onForgotten: ignore,
  };
  const job = new Job(
    {
      id: `job_${made}`,
      owner,
      agent: "echo@1.0.0",
      agentName: "echo",
      grant: newGrant(leaseOf(lease, undefined, 0)),
      traceId: "0".repeat(31) + "1",
      createdAtMs: 0,
      maxRuntimeSec: undefined,
      key: undefined,
      fingerprint: undefined,
      parent: undefined,
      delegateId: undefined,
      requestId: undefined,
      from: 0,
      ...terms,
    },
    undefined,
  );
  job.running = newRunning();
  return job;
}
