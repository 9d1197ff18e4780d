/** The options of an ARCP runtime. */
import type { Clock } from "../../../core/clock.ts";
import type { JobLimits } from "../../../core/jobs.ts";
import type { SessionLimits } from "../../../core/sessions.ts";
import type { JobAuthorizer, JobObserver, RunAround } from "../../../jobs/observer.ts";
import type { Provisioner } from "../../../jobs/provisioner.ts";
import type { Verifier } from "./verifiers.ts";

export interface ArcpOptions {
  /** As it is told to clients. */
  readonly runtime: { readonly name: string; readonly version: string };
  /** The principal of a token: `staticTokens`, `jwtTokens`, or a function of your own. */
  readonly bearer: Verifier;
  /** Makes credentials for jobs of clients that ask for them. */
  readonly provisioner?: Provisioner;
  readonly authorizer?: JobAuthorizer;
  readonly observers?: readonly JobObserver[];
  /** Wraps every run of an agent; `withTracing` sets it. */
  readonly around?: RunAround;
  /** May cancel: the session that submitted the job, or any of the same principal. */
  readonly cancelBy?: "session" | "principal";
  readonly limits?: Partial<JobLimits>;
  readonly sessions?: Partial<SessionLimits>;
  /** Something went wrong that is nobody's answer. */
  readonly onTrouble?: (what: string, error: unknown) => void;
  /** For tests: time moved by hand, and chance that repeats. */
  readonly clock?: Clock;
  readonly fillRandom?: (bytes: Uint8Array) => void;
}
