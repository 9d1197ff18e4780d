/**
 * One job hands work to another.
 *
 *   parent says `delegate` ─▶ lease, subset, budget, depth, number ─▶ a child in the same session
 *                                 └─ refused: `tool_result` on the parent, which goes on
 *
 * The delegation is told on the parent either way, so that whoever reads its events knows what it
 * asked for and what came of it.
 */
import { RollcallError } from "../core/errors.ts";
import type { LeaseRequest } from "../core/jobs/lease.ts";
import type { Outcome } from "../core/jobs/outcome.ts";
import type { Job } from "./job.ts";
import type { Jobs } from "./jobs.ts";

export interface DelegateOptions {
  readonly input?: unknown;
  /** At most what the job itself may do; a budget is taken from what is left of the job's own. */
  readonly lease?: LeaseRequest;
  /** Not after the job's own. */
  readonly expiresAtMs?: number;
  readonly maxRuntimeSec?: number;
  /** The name of this delegation in the parent's events. */
  readonly delegateId?: string;
}

export interface ChildJob {
  readonly jobId: string;
  readonly delegateId: string;
  /** How it ended; it does not reject. */
  readonly done: Promise<Outcome>;
  readonly cancel: (reason?: string) => void;
}

export class Delegation {
  readonly #jobs: Jobs;
  readonly #newId: () => string;
  /** Who waits for the end of a child. */
  readonly #waiting = new Map<Job, (outcome: Outcome) => void>();

  constructor(jobs: Jobs, newId: () => string) {
    this.#jobs = jobs;
    this.#newId = newId;
  }

  onEnded(job: Job, outcome: Outcome): void {
    this.#waiting.get(job)?.(outcome);
    this.#waiting.delete(job);
  }

  async delegate(parent: Job, agent: string, how: DelegateOptions): Promise<ChildJob> {
    const { runs } = this.#jobs;
    const delegateId = how.delegateId ?? `del_${this.#newId()}`;
    const told = {
      delegate_id: delegateId,
      agent,
      ...(how.input !== undefined && { input: how.input }),
      ...(how.lease && { lease_request: how.lease }),
    };
    try {
      const job = await this.#submit(parent, agent, { ...how, delegateId });
      const done = new Promise<Outcome>((resolve) => this.#waiting.set(job, resolve));
      await runs.say(parent, "delegate", { ...told, child_job_id: job.id });
      const cancel = (reason = "parent.cancel") => void runs.cancel(job, reason);
      return { jobId: job.id, delegateId, done, cancel };
    } catch (error) {
      if (!parent.isOver && error instanceof RollcallError) {
        await runs.say(parent, "delegate", told);
        const { code, message } = error;
        const failure = { code, message, retryable: false };
        await runs.say(parent, "tool_result", { call_id: delegateId, error: failure });
      }
      throw error;
    }
  }

  async #submit(parent: Job, agent: string, how: DelegateOptions): Promise<Job> {
    const { job } = await this.#jobs.submitChild(parent, {
      owner: parent.owner,
      agent,
      input: how.input,
      lease: how.lease ?? {},
      expiresAtMs: how.expiresAtMs,
      maxRuntimeSec: how.maxRuntimeSec,
      delegateId: how.delegateId,
    });
    return job;
  }
}
