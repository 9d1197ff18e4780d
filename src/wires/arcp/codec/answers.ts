/** What a job looks like in the answers that tell of it. */
import type { Job } from "../../../jobs/job.ts";
import type { JobPage } from "../../../jobs/listing.ts";
import { acceptedPayload, jobsPayload, subscribedPayload } from "./encode.ts";
import type { Profile } from "./profile.ts";

const NO_BUDGET = new Map<string, bigint>();

/**
 * The budget is what was granted, so that who asks again is told the same. Credentials are told
 * while the job runs: afterwards they are revoked, and of no use.
 */
export function acceptedOf(profile: Profile, job: Job, told: AcceptedTerms): string {
  const { shape, lease } = job.grant;
  const credentials = job.running?.credentials ?? [];
  return acceptedPayload(profile, {
    jobId: job.id,
    agent: job.agent,
    acceptedAt: told.at,
    lease: shape,
    expiresAt: expiryOf(job),
    budget: lease.budget ?? NO_BUDGET,
    credentials: credentials.length > 0 ? credentials : undefined,
    requestId: told.requestId,
    traceId: job.traceId,
    parentJobId: job.parent?.id,
    delegateId: job.delegateId,
  });
}

export interface AcceptedTerms {
  /** When it was, as text. */
  readonly at: string;
  readonly requestId?: string | undefined;
}

export interface SubscribedTerms {
  readonly requestId: string;
  readonly replayed: boolean;
  readonly subscribedFrom: number;
}

export function subscribedOf(job: Job, terms: SubscribedTerms): string {
  const { shape, remaining, lease } = job.grant;
  return subscribedPayload({
    ...terms,
    jobId: job.id,
    status: job.status,
    agent: job.agent,
    lease: shape,
    expiresAt: expiryOf(job),
    budget: lease.budget ? remaining : NO_BUDGET,
    parentJobId: job.parent?.id,
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
      lease: job.grant.shape,
      parentJobId: job.parent?.id,
      createdAt: new Date(job.createdAtMs).toISOString(),
      traceId: job.traceId,
      lastEventSeq: lastSeq(job),
    })),
    nextCursor: next === undefined ? undefined : Buffer.from(next).toString("base64url"),
  });
}

function expiryOf({ grant }: Job): string | undefined {
  const { expiresAtMs } = grant;
  return expiresAtMs === undefined ? undefined : new Date(expiresAtMs).toISOString();
}
