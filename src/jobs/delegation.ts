/**
 * One job hands work to another.
 *
 *   parent says `delegate` ─▶ lease, subset, budget, depth, number ─▶ a child in the same session
 *                                 └─ refused: `tool_result` on the parent, which goes on
 *
 * The delegation is an event of the parent either way, so that its subscribers know the request
 * and the outcome.
 */
import { namedBy, type By } from "../core/by.ts";
import { RollcallError } from "../core/errors.ts";
import type { LeaseRequest } from "../core/jobs/lease.ts";
import type { Outcome } from "../core/jobs/outcome.ts";
import type { JobService } from "./jobs.ts";
import type { Run } from "./run.ts";

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
  readonly #jobs: JobService;
  /** Parents that wait for the end of a child, by its id. */
  readonly #waiting = new Map<string, (outcome: Outcome) => void>();

  constructor(jobs: JobService) {
    this.#jobs = jobs;
  }

  onEnded({ id }: Run, outcome: Outcome): void {
    this.#waiting.get(id)?.(outcome);
    this.#waiting.delete(id);
  }

  /** With the term: how they end is not known here any more. */
  end(message: string): void {
    for (const told of this.#waiting.values())
      told({ status: "error", code: "UNAVAILABLE", message });
    this.#waiting.clear();
  }

  async delegate(parent: Run, agent: string, how: DelegateOptions): Promise<ChildJob> {
    const { events } = this.#jobs;
    const delegateId = how.delegateId ?? `del_${this.#jobs.options.newId()}`;
    const told = {
      delegate_id: delegateId,
      agent,
      ...(how.input !== undefined && { input: how.input }),
      ...(how.lease && { lease_request: how.lease }),
    };
    try {
      const jobId = await this.#submit(parent, agent, { ...how, delegateId });
      const done = new Promise<Outcome>((resolve) => this.#waiting.set(jobId, resolve));
      await events.say(parent, "delegate", { ...told, child_job_id: jobId });
      const by = jobBy(parent);
      const cancel = (reason = "parent.cancel") => this.#cancel({ jobId, reason }, by);
      return { jobId, delegateId, done, cancel };
    } catch (error) {
      if (!parent.isOver && error instanceof RollcallError) {
        await events.say(parent, "delegate", told);
        const { code, message } = error;
        const failure = { code, message, retryable: false };
        await events.say(parent, "tool_result", { call_id: delegateId, error: failure });
      }
      throw error;
    }
  }

  /** An agent does so while it is told to stop itself, where an error would end the process. */
  #cancel(child: { readonly jobId: string; readonly reason: string }, by: By): void {
    try {
      this.#jobs.cancel(child, by);
    } catch (error) {
      // The term is over, and the child with it; or it ends with its parent.
      if (!(error instanceof RollcallError)) throw error;
    }
  }

  async #submit(parent: Run, agent: string, how: DelegateOptions): Promise<string> {
    const { job: child } = await this.#jobs.submit({
      by: jobBy(parent),
      session: parent.job.session ?? "",
      parent: parent.id,
      agent,
      input: how.input,
      lease: how.lease ?? {},
      expiresAtMs: how.expiresAtMs,
      maxRuntimeSec: how.maxRuntimeSec,
      delegateId: how.delegateId,
    });
    return child.id;
  }
}

/** A job acts for the principal that submitted it. */
function jobBy({ id, job }: Run): By {
  return namedBy(job.principal, "job", id);
}
