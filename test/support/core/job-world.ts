/** A small world for tests of the rules of jobs. */
import type { Event } from "../../../src/core/events.ts";
import { feel, newPulse } from "../../../src/core/job-progress.ts";
import type { JobEnding } from "../../../src/core/job-rules.ts";
import { charge } from "../../../src/core/jobs/budget.ts";
import { amountOf, amountText } from "../../../src/core/jobs/decimal.ts";
import type { JobStreamEvent } from "../../../src/core/jobs/events.ts";
import { limitJobs } from "../../../src/core/job-deadlines.ts";
import type { Job, JobEntry, JobLimits } from "../../../src/core/jobs.ts";
import { World } from "./fixture.ts";

export const DONE: JobEnding = { status: "success", code: "", reason: "" };
export const FAILED: JobEnding = { status: "error", code: "INTERNAL", reason: "no disk" };

export class JobWorld extends World {
  constructor(limits: Partial<JobLimits> = {}) {
    super();
    this.limit(limits);
  }

  limit(limits: Partial<JobLimits>): void {
    limitJobs(this.state, { ...this.state.jobs.limits, ...limits });
  }

  entry(jobId: string): JobEntry {
    const entry = this.state.jobs.byId.get(jobId);
    if (!entry) throw new Error(`no job ${jobId}`);
    return entry;
  }

  /** Gives the events that came of it. */
  end(jobId: string, ending: JobEnding = DONE): Event[] {
    return this.eventsOf(() => this.run({ type: "job.end", jobId, ending }));
  }

  cancel(jobId: string, reason = "enough"): Event[] {
    return this.eventsOf(() => this.run({ type: "job.cancel", jobId, reason }));
  }

  revive(jobId: string, again: boolean, node = "n1"): Event[] {
    return this.eventsOf(() => this.run({ type: "job.revive", jobId, node, again }));
  }

  /** Soft, as all that a job says. */
  say(jobId: string, event: JobStreamEvent): void {
    const entry = this.entry(jobId);
    entry.pulse ??= newPulse(this.nowMs);
    feel(entry.pulse, event, this.nowMs);
    this.observers.felt(entry.job);
  }

  /** Soft, in dollars. */
  spend(jobId: string, amount: string): void {
    const { purse, job } = this.entry(jobId);
    charge(purse, "USD", amountOf(amount) ?? 0n);
    this.observers.felt(job);
  }

  /** The rest of a budget, in dollars. */
  left(jobId: string): string {
    return amountText(this.entry(jobId).purse.remaining.get("USD") ?? 0n);
  }

  statuses(ids: readonly string[]): (Job["status"] | undefined)[] {
    return ids.map((id) => this.job(id)?.status);
  }
}

/** `job.ended job_0001`, … */
export function told(events: readonly Event[]): string[] {
  return events.map((event) => ("job" in event ? `${event.type} ${event.job.id}` : event.type));
}

/** The lease of an order that asks for dollars. */
export function budget(amount: string) {
  return { lease: { "cost.budget": [`USD:${amount}`] } };
}
