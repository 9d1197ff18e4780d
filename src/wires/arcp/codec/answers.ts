/** A job in the answers that tell of it. */
import type { IssuedCredential } from "../../../jobs/provisioner.ts";
import type { JobPage } from "../../../core/job-listing.ts";
import { parseBudget, type Budget } from "../../../core/jobs/budget.ts";
import type { Job } from "../../../core/jobs.ts";
import { acceptedPayload, jobsPayload, subscribedPayload } from "./encode.ts";
import type { Profile } from "./profile.ts";

const NO_BUDGET: Budget = new Map();

export interface AcceptedTerms {
  /** When it was accepted, as text. */
  readonly at: string;
  readonly requestId?: string | undefined;
  /** Told while the job runs: afterwards they are revoked, and of no use. */
  readonly credentials: readonly IssuedCredential[];
}

/** The budget is what was granted, so that a client that asks again is told the same. */
export function acceptedOf(profile: Profile, job: Job, terms: AcceptedTerms): string {
  const { lease = {} } = job;
  const { at, requestId, credentials } = terms;
  return acceptedPayload(profile, {
    jobId: job.id,
    agent: job.agent,
    acceptedAt: at,
    lease,
    expiresAt: expiryOf(job),
    budget: grantedTo(job),
    credentials: credentials.length > 0 ? credentials : undefined,
    requestId,
    traceId: job.traceId,
    parentJobId: job.parent || undefined,
    delegateId: job.delegateId,
  });
}

export interface SubscribedTerms {
  readonly requestId: string;
  readonly replayed: boolean;
  readonly subscribedFrom: number;
  /** The rest of the budget. */
  readonly remaining: Budget;
}

export function subscribedOf(job: Job, { remaining, ...terms }: SubscribedTerms): string {
  const { lease = {} } = job;
  return subscribedPayload({
    ...terms,
    jobId: job.id,
    status: job.status,
    agent: job.agent,
    lease,
    expiresAt: expiryOf(job),
    budget: lease["cost.budget"] ? remaining : NO_BUDGET,
    parentJobId: job.parent || undefined,
    traceId: job.traceId,
  });
}

export function listedOf(
  requestId: string,
  { jobs, next }: JobPage,
  lastSeq: (job: Job) => number,
): string {
  return jobsPayload({
    requestId,
    jobs: jobs.map((job) => ({
      jobId: job.id,
      agent: job.agent,
      status: job.status,
      lease: job.lease ?? {},
      parentJobId: job.parent || undefined,
      createdAt: new Date(job.submittedAtMs).toISOString(),
      traceId: job.traceId,
      lastEventSeq: lastSeq(job),
    })),
    nextCursor: next === undefined ? undefined : Buffer.from(next).toString("base64url"),
  });
}

function grantedTo({ lease = {} }: Job): Budget {
  const budget = lease["cost.budget"];
  const parsed = budget && parseBudget(budget);
  return parsed?.ok ? parsed.budget : NO_BUDGET;
}

function expiryOf({ leaseExpiresAtMs }: Job): string | undefined {
  return leaseExpiresAtMs === undefined ? undefined : new Date(leaseExpiresAtMs).toISOString();
}
