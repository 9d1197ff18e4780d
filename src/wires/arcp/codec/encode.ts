/**
 * Frames as they go out, in shapes that every strict reader takes. Events, acceptances and ends
 * are most of the traffic, so they are put together as text: the payload is written once and its
 * envelope, which differs for every observer, is laid around it. Ids are of our own making and
 * need no quoting; everything that others wrote goes through JSON.
 */
import type { IssuedCredential } from "../../../jobs/provisioner.ts";
import { amountText, type Amount } from "../../../core/jobs/decimal.ts";
import type { AgentListing } from "../../../core/jobs/agent-ref.ts";
import type { JobStatus } from "../../../core/jobs/outcome.ts";
import type { ArcpError } from "./errors.ts";
import type { Feature, LeaseShape } from "./messages.ts";
import type { Profile } from "./profile.ts";

/** The fields of an envelope. `sessionId` may be invented before there is a session. */
export interface Head {
  readonly id: string;
  readonly sessionId: string;
  readonly jobId?: string | undefined;
  readonly traceId?: string | undefined;
  readonly eventSeq?: number | undefined;
}

/** Lays an envelope around a payload that is JSON text already. */
export function frameText(type: string, head: Head, payload: string): string {
  const { id, sessionId, jobId, traceId, eventSeq } = head;
  let text = `{"arcp":"1.1","id":"${id}","type":"${type}","session_id":"${sessionId}"`;
  if (traceId !== undefined) text += `,"trace_id":"${traceId}"`;
  if (jobId !== undefined) text += `,"job_id":"${jobId}"`;
  if (eventSeq !== undefined) text += `,"event_seq":${eventSeq}`;
  return `${text},"payload":${payload}}`;
}

export interface AcceptedFields {
  readonly jobId: string;
  /** The agent that was resolved: `name@version`, or its bare name. */
  readonly agent: string;
  readonly acceptedAt: string;
  readonly lease: LeaseShape;
  readonly expiresAt?: string | undefined;
  readonly budget: ReadonlyMap<string, Amount>;
  readonly credentials?: readonly IssuedCredential[] | undefined;
  readonly requestId?: string | undefined;
  readonly traceId?: string | undefined;
  readonly parentJobId?: string | undefined;
  readonly delegateId?: string | undefined;
}

export function acceptedPayload(profile: Profile, fields: AcceptedFields): string {
  const { jobId, agent, acceptedAt, lease, expiresAt, budget, credentials } = fields;
  let text = `{"job_id":"${jobId}","agent":"${agent}","accepted_at":"${acceptedAt}"`;
  text += `,"lease":${leaseText(lease)}`;
  if (expiresAt !== undefined) text += `,"lease_constraints":{"expires_at":"${expiresAt}"}`;
  if (budget.size > 0) text += `,"budget":${budgetText(profile, budget)}`;
  if (credentials) text += `,"credentials":${JSON.stringify(credentials)}`;
  if (fields.traceId !== undefined) text += `,"trace_id":"${fields.traceId}"`;
  if (fields.requestId !== undefined) text += `,"request_id":${JSON.stringify(fields.requestId)}`;
  if (fields.parentJobId !== undefined) text += `,"parent_job_id":"${fields.parentJobId}"`;
  if (fields.delegateId !== undefined) {
    text += `,"delegate_id":${JSON.stringify(fields.delegateId)}`;
  }
  return `${text}}`;
}

function leaseText(lease: LeaseShape): string {
  for (const _ in lease) return JSON.stringify(lease);
  return "{}";
}

/** Exact digits as JSON numbers; the Python SDK wants `"USD:2.5"` instead. */
export function budgetText(profile: Profile, budget: ReadonlyMap<string, Amount>): string {
  const entries = [...budget].map(([currency, amount]) => {
    const digits = amountText(amount);
    return `"${currency}":${profile === "py" ? `"${currency}:${digits}"` : digits}`;
  });
  return `{${entries.join(",")}}`;
}

export interface WelcomeFields {
  readonly runtime: { readonly name: string; readonly version: string };
  readonly sessionId: string;
  readonly resumeToken: string;
  readonly resumeWindowSec: number;
  /** Only where `heartbeat` was agreed. */
  readonly heartbeatIntervalSec?: number | undefined;
  /** The negotiated features. */
  readonly features: readonly Feature[];
  readonly agents: readonly AgentListing[];
  readonly acceptedAt: string;
}

export function welcomePayload(fields: WelcomeFields): string {
  const { features, agents, heartbeatIntervalSec } = fields;
  const isVersioned = features.includes("agent_versions");
  return JSON.stringify({
    runtime: fields.runtime,
    session_id: fields.sessionId,
    resume_token: fields.resumeToken,
    resume_window_sec: Math.max(1, fields.resumeWindowSec),
    ...(heartbeatIntervalSec !== undefined && { heartbeat_interval_sec: heartbeatIntervalSec }),
    capabilities: {
      encodings: ["json"],
      features,
      agents: isVersioned ? agents : agents.map(({ name }) => name),
    },
    accepted_at: fields.acceptedAt,
  });
}

/** Which request an error answers, so that a client need not fail all of them. */
export interface RequestRef {
  readonly requestId?: string | undefined;
  readonly requestType?: string | undefined;
}

export function sessionErrorPayload(error: ArcpError, answered: RequestRef = {}): string {
  const { requestId, requestType } = answered;
  const details = {
    ...error.details,
    ...(requestId !== undefined && { request_id: requestId }),
    ...(requestType !== undefined && { request_type: requestType }),
  };
  const { code, message, retryable } = error;
  const told = { code, message, retryable };
  return JSON.stringify(Object.keys(details).length > 0 ? { ...told, details } : told);
}

export interface JobEntryFields {
  readonly jobId: string;
  readonly agent: string;
  readonly status: JobStatus;
  readonly lease: LeaseShape;
  readonly parentJobId?: string | undefined;
  readonly createdAt: string;
  readonly traceId?: string | undefined;
  /** In the numbers of the session that asks; 0 where it saw none. */
  readonly lastEventSeq: number;
}

export interface JobsFields {
  readonly requestId: string;
  readonly jobs: readonly JobEntryFields[];
  readonly nextCursor?: string | undefined;
}

export function jobsPayload({ requestId, jobs, nextCursor }: JobsFields): string {
  return JSON.stringify({
    request_id: requestId,
    jobs: jobs.map((job) => ({
      job_id: job.jobId,
      agent: job.agent,
      status: job.status,
      lease: job.lease,
      parent_job_id: job.parentJobId ?? null,
      created_at: job.createdAt,
      submitted_at: job.createdAt,
      ...(job.traceId !== undefined && { trace_id: job.traceId }),
      last_event_seq: job.lastEventSeq,
    })),
    next_cursor: nextCursor ?? null,
  });
}

export interface SubscribedFields {
  readonly requestId: string;
  readonly jobId: string;
  readonly status: JobStatus;
  readonly agent: string;
  readonly lease: LeaseShape;
  readonly expiresAt?: string | undefined;
  /** The rest of the budget. */
  readonly budget: ReadonlyMap<string, Amount>;
  /** Only for the principal that submitted the job. */
  readonly credentials?: readonly IssuedCredential[] | undefined;
  readonly parentJobId?: string | undefined;
  readonly traceId?: string | undefined;
  readonly subscribedFrom: number;
  readonly replayed: boolean;
}

export function subscribedPayload(fields: SubscribedFields): string {
  const { budget, expiresAt, credentials, traceId } = fields;
  const text = JSON.stringify({
    request_id: fields.requestId,
    job_id: fields.jobId,
    current_status: fields.status,
    agent: fields.agent,
    lease: fields.lease,
    ...(expiresAt !== undefined && { lease_constraints: { expires_at: expiresAt } }),
    ...(credentials && { credentials }),
    parent_job_id: fields.parentJobId ?? null,
    ...(traceId !== undefined && { trace_id: traceId }),
    subscribed_from: fields.subscribedFrom,
    replayed: fields.replayed,
  });
  // Numbers for everybody: the Python client keeps whatever stands here.
  return budget.size === 0 ? text : `${text.slice(0, -1)},"budget":${budgetText("spec", budget)}}`;
}
