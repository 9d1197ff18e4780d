/** Hooks of the job service: observers of what happens to jobs, and the authorizer of submits. */
import type { By } from "../core/by.ts";
import type { JobStreamEvent } from "../core/jobs/events.ts";
import type { JobLease } from "../core/jobs/lease.ts";
import type { Entitlement } from "../core/jobs/lease-subset.ts";
import type { Outcome } from "../core/jobs/outcome.ts";
import type { Job } from "../core/jobs.ts";
import type { Role } from "../core/principals.ts";
import type { Run } from "./run.ts";

/** Told in the order of what happened, when it is durable. What it throws goes to `onTrouble`. */
export interface JobObserver {
  onAccepted?(run: Run): void;
  onStarted?(run: Run): void;
  onEvent?(run: Run, event: JobStreamEvent): void;
  onEnded?(run: Run, outcome: Outcome): void;
}

export interface SubmitQuestion {
  readonly principal: string;
  /** Its roles when it submitted; none for an admin, whom no policy on a role narrows. */
  readonly roles: readonly Role[];
  /** `name@version`, or the bare name, of an agent that is there. */
  readonly agent: string;
  /** The requested lease. */
  readonly lease: JobLease;
  readonly parent: Run | undefined;
}

/** The host's permissions. Without one, every principal may submit and sees only its own jobs. */
export interface JobAuthorizer {
  /** The bounds of a job's lease, if any. Throws PERMISSION_DENIED where no job may be. */
  entitle?(question: SubmitQuestion): Entitled | Promise<Entitled>;
  /** Told of each submit that it denied, or whose lease went beyond the bounds. */
  onDenied?(by: By, agent: string, reason: string): void;
  /** Whether a principal, which has these roles, may follow the job of another. */
  maySee?(principal: string, job: Job, roles?: readonly Role[]): boolean;
}

export type Entitled = Entitlement | undefined;

/** Calls `start`, which starts the agent, with whatever the agent shall find around it. */
export type RunAround = (run: Run, start: () => unknown) => unknown;
