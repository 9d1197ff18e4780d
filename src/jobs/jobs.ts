/**
 * The job service: hands jobs to their agents, writes what they say, and ends them. What may happen
 * to a job is decided by the rules of core; here is what has to be done about it.
 *
 *   submit ─▶ agent, policy, credentials ─▶ decided ─▶ durable ─▶ the agent runs ─▶ decided: ended
 *                                              │                      │ says
 *                                              └──── stream job/ID ◀──┘
 *
 * A job starts only after it is durable: nothing happens on behalf of a job that a crash could make
 * undone. The service lives for one term of leading at a time; at the next one it begins with the
 * jobs of the state that have not ended.
 */
import { isErrorCode, RollcallError } from "../core/errors.ts";
import type { Event } from "../core/events.ts";
import { pageOfJobs, type JobPage, type JobQuery } from "../core/job-listing.ts";
import { feel, isWorthLogging, newPulse } from "../core/job-progress.ts";
import { checkDelegation, checkTarget, jobUnderKey, type CancelCommand } from "../core/job-rules.ts";
import { budgetOf, decodeEntry, jobStream } from "../core/job-stream.ts";
import {
  charge,
  costOf,
  isWorthTelling,
  remainingMetric,
  remainingOf,
  type Cost,
} from "../core/jobs/budget.ts";
import type { Amount } from "../core/jobs/decimal.ts";
import { checkEvent } from "../core/jobs/event-reading.ts";
import type { JobEvent } from "../core/jobs/events.ts";
import { checkExpiry, parseLease, type Lease, type LeaseRequest } from "../core/jobs/lease.ts";
import { boundLease } from "../core/jobs/lease-subset.ts";
import { JOBS } from "../core/jobs/limits.ts";
import { isTerminal, type Outcome } from "../core/jobs/outcome.ts";
import { checkChunk } from "../core/jobs/result-stream.ts";
import { countersOf, restoreBudget, type Job, type JobEntry, type JobLimits } from "../core/jobs.ts";
import type { Refusal } from "../core/decide.ts";
import type { State } from "../core/state.ts";
import type { Companion, Term } from "../engine/companion.ts";
import type { Streams } from "../log/streams.ts";
import type { Agent, Agents } from "./agents.ts";
import type { ContextHost } from "./context.ts";
import type { Credentials } from "./credentials.ts";
import { Delegation } from "./delegation.ts";
import { fingerprint } from "./fingerprint.ts";
import { STREAM } from "./limits.ts";
import type { Entitled, JobAuthorizer, JobObserver, RunAround } from "./observer.ts";
import type { IssuedCredential } from "./provisioner.ts";
import { Run, type Listener, type Owner, type RunTerms, type TraceContext } from "./run.ts";
import { runAgent } from "./runner.ts";
import { newTraceId } from "./trace-id.ts";
