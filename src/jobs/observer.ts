/**
 * Who else looks at jobs: the daemon shows them as rows of the fleet and counts them, and its
 * policies say who may submit what. Both are told of jobs, never of frames.
 */
import type { JobEvent } from "../core/jobs/events.ts";
import type { Lease } from "../core/jobs/lease.ts";
import type { Entitlement } from "../core/jobs/lease-subset.ts";
import type { Outcome } from "../core/jobs/outcome.ts";
import type { Job } from "./job.ts";

/** Told in the order of what happened, when it is durable. What it throws goes to `onTrouble`. */
export interface JobObserver {
  onAccepted?(job: Job): void;
  onStarted?(job: Job): void;
  onEvent?(job: Job, event: JobEvent): void;
  onEnded?(job: Job, outcome: Outcome): void;
}

export interface SubmitQuestion {
  readonly principal: string;
  /** `name@version`, or the bare name, of an agent that is there. */
  readonly agent: string;
  /** What is asked for. */
  readonly lease: Lease;
  readonly parent: Job | undefined;
}

/** What others decide. Without one, everybody may submit and sees exactly their own jobs. */
export interface JobAuthorizer {
  /** What bounds the lease of a job, if anything. Throws PERMISSION_DENIED where none may be. */
  entitle?(question: SubmitQuestion): Entitled | Promise<Entitled>;
  /** Whether a principal may follow the job of another. */
  maySee?(principal: string, job: Job): boolean;
}

export type Entitled = Entitlement | undefined;

/** Calls `run`, which starts the agent, with whatever the agent shall find around it. */
export type RunAround = (job: Job, run: () => unknown) => unknown;
