/** What one job may hand to another, and what it gets back. */
import type { Outcome } from "../core/jobs/outcome.ts";
import type { LeaseRequest } from "../core/jobs/lease.ts";

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
  cancel(reason?: string): void;
}
