/** What an ARCP runtime is made of. */
import type { Clock } from "../../../core/clock.ts";
import type { JobLimits } from "../../../core/jobs.ts";
import type { SessionLimits } from "../../../core/sessions.ts";
import type { JobAuthorizer, JobObserver, RunAround } from "../../../jobs/observer.ts";
import type { Provisioner } from "../../../jobs/provisioner.ts";
import type { Verifier } from "./verifiers.ts";

export interface ArcpOptions {
  /** As it is told to clients. */
  readonly runtime: { readonly name: string; readonly version: string };
  /** Who a token belongs to: `staticTokens`, `jwtTokens`, or a function of your own. */
  readonly bearer: Verifier;
  /** Makes credentials for jobs of clients that ask for them. */
  readonly provisioner?: Provisioner;
  readonly authorizer?: JobAuthorizer;
  readonly observers?: readonly JobObserver[];
  /** What agents find around them when they start; `withTracing` sets it. */
  readonly around?: RunAround;
  /** Who may cancel: the session that submitted the job, or any of the same principal. */
  readonly cancelBy?: "session" | "principal";
  readonly limits?: Partial<JobLimits>;
  readonly sessions?: Partial<SessionLimits>;
  /** Something went wrong that is nobody's answer. */
  readonly onTrouble?: (what: string, error: unknown) => void;
  /** For tests: time moved by hand, and chance that repeats. */
  readonly clock?: Clock;
  readonly fillRandom?: (bytes: Uint8Array) => void;
}
