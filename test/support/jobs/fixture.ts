/** For tests of what looks at jobs, and of the service that runs them. */
import type { Event } from "../../../src/core/events.ts";
import type { Job } from "../../../src/core/jobs.ts";
import type { State } from "../../../src/core/state.ts";
import type { Companion, Term } from "../../../src/engine/companion.ts";
import { JobAgents } from "../../../src/jobs/agents.ts";
import { JobService, type JobsOptions } from "../../../src/jobs/jobs.ts";
import type { JobOrder } from "../../../src/jobs/submissions.ts";
import { systemClock } from "../../../src/machine/clock.ts";
import { namedBy } from "../../../src/core/by.ts";

let made = 0;

/** A job that nobody runs. */
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

/** The job service alone on an engine, as the ARCP wire runs it. */
export class JobsCompanion implements Companion {
  readonly jobs: JobService;

  constructor(options: JobsOptions) {
    this.jobs = new JobService(options);
  }

  prepare(state: State): Promise<void> {
    return this.jobs.prepare(state);
  }

  lead(term: Term): void {
    this.jobs.begin(term);
    this.jobs.revive();
  }

  onEvent(event: Event): void {
    this.jobs.onEvent(event);
  }

  end(): void {
    this.jobs.end();
  }
}

/** The options of a service that has nothing special. */
export function jobsOptions(
  given: Partial<JobsOptions> & Pick<JobsOptions, "streams">,
): JobsOptions {
  let ids = 0;
  return {
    node: "solo",
    agents: new JobAgents(),
    clock: systemClock,
    provisioner: undefined,
    observers: [],
    authorizer: undefined,
    around: undefined,
    limits: {},
    kept: { events: 1_000_000, bytes: 1_000_000_000 },
    newId: () => String((ids += 1)).padStart(6, "0"),
    ownerOf: () => undefined,
    onTrouble: () => undefined,
    ...given,
  };
}

/** An order that asks for nothing. */
export function jobOrder(agent: string, fields: Partial<JobOrder> = {}): JobOrder {
  return { by: namedBy("ann", "library"), session: "", agent, input: null, lease: {}, ...fields };
}
