/**
 * Every message of the hello/welcome vocabulary, as it is after decoding: names of ours, no nulls,
 * every field there (absent ones undefined, so that all frames of a type have one shape).
 *
 * The vocabulary of the older drafts (`session.open`, `tool.invoke`) is another protocol and is
 * refused like any unknown type.
 */
import type { AgentListing } from "../../../core/jobs/agent-ref.ts";
import type { Amount } from "../../../core/jobs/decimal.ts";
import type { JobStreamEvent } from "../../../core/jobs/events.ts";
import type { JsonRecord } from "../../../core/json-object.ts";
import type { JobStatus } from "../../../core/jobs/outcome.ts";
import type { Profile } from "./profile.ts";

/** The fields around every payload. */
export interface Envelope {
  readonly id: string;
  readonly sessionId: string | undefined;
  readonly jobId: string | undefined;
  /** 32 lower-case hex digits, whichever form it came in. */
  readonly traceId: string | undefined;
  readonly extensions: JsonRecord | undefined;
}

/** The features of ARCP 1.1; what else a peer names means nothing to us. */
export const FEATURES = [
  "heartbeat",
  "ack",
  "list_jobs",
  "subscribe",
  "lease_expires_at",
  "cost.budget",
  "model.use",
  "provisioned_credentials",
  "progress",
  "result_chunk",
  "agent_versions",
] as const;

export type Feature = (typeof FEATURES)[number];

/** Namespace → patterns, as on the wire. `parseLease` of core makes it canonical. */
export type LeaseShape = Readonly<Record<string, readonly string[]>>;

export interface LeaseConstraints {
  readonly expiresAtMs: number;
}

export interface Ping extends Envelope {
  readonly type: "session.ping";
  readonly nonce: string;
  readonly sentAt: string;
}

export interface Pong extends Envelope {
  readonly type: "session.pong";
  readonly pingNonce: string;
  readonly receivedAt: string;
}

export interface Bye extends Envelope {
  readonly type: "session.bye";
  readonly reason: string | undefined;
}

/* Client → runtime. */

/** The token of a client that has none: a hello cannot go without. */
export const NO_TOKEN = "anonymous";

export interface Hello extends Envelope {
  readonly type: "session.hello";
  /** Which shapes this client takes. */
  readonly profile: Profile;
  readonly client: { readonly name: string; readonly version: string };
  readonly token: string;
  /** The features we know, in the client's order. */
  readonly features: readonly Feature[];
  readonly resume: Resumption | undefined;
}

/** All that another connection needs to go on with a session. */
export interface Resumption {
  readonly sessionId: string;
  readonly resumeToken: string;
  readonly lastEventSeq: number;
}

export interface Close extends Envelope {
  readonly type: "session.close";
  readonly reason: string | undefined;
}

export interface Ack extends Envelope {
  readonly type: "session.ack";
  readonly lastProcessedSeq: number;
}

export interface ListJobs extends Envelope {
  readonly type: "session.list_jobs";
  readonly filter: {
    readonly statuses: readonly JobStatus[] | undefined;
    /** A bare name means every version of it. */
    readonly agent: string | undefined;
    /** Both bounds are strict. */
    readonly createdAfterMs: number | undefined;
    readonly createdBeforeMs: number | undefined;
  };
  readonly limit: number;
  readonly cursor: string | undefined;
}

export interface Submit extends Envelope {
  readonly type: "job.submit";
  /** Of the grammar `name` or `name@version`. */
  readonly agent: string;
  /** Absent and null are one. */
  readonly input: unknown;
  readonly leaseRequest: LeaseShape;
  readonly leaseConstraints: LeaseConstraints | undefined;
  readonly idempotencyKey: string | undefined;
  readonly maxRuntimeSec: number | undefined;
  /** As the client claims; not checked yet. */
  readonly parentJobId: string | undefined;
  readonly delegateId: string | undefined;
}

export interface Cancel extends Envelope {
  readonly type: "job.cancel";
  readonly jobId: string;
  readonly reason: string;
}

export interface Subscribe extends Envelope {
  readonly type: "job.subscribe";
  readonly jobId: string;
  readonly history: boolean;
  readonly fromEventSeq: number;
}

export interface Unsubscribe extends Envelope {
  readonly type: "job.unsubscribe";
  readonly jobId: string;
}

/** A vendor's own type that its sender called optional: a peer that does not know it drops it. */
export interface VendorMessage extends Envelope {
  readonly type: "x-vendor";
  readonly name: string;
}

export type ClientMessage =
  | Hello
  | Ping
  | Pong
  | Bye
  | Close
  | Ack
  | ListJobs
  | Submit
  | Cancel
  | Subscribe
  | Unsubscribe
  | VendorMessage;

/* Runtime → client. */

export interface Welcome extends Envelope {
  readonly type: "session.welcome";
  readonly sessionId: string;
  readonly runtime: { readonly name: string; readonly version: string };
  readonly resumeToken: string | undefined;
  readonly resumeWindowSec: number;
  readonly heartbeatIntervalSec: number | undefined;
  readonly features: readonly Feature[];
  readonly agents: readonly AgentListing[];
}

/** An error as a peer told it: its code may be one nobody knows. */
export interface ToldError {
  readonly code: string;
  readonly message: string;
  readonly retryable: boolean;
  readonly details: JsonRecord | undefined;
}

export interface SessionError extends Envelope {
  readonly type: "session.error";
  readonly error: ToldError;
  /** Which request it answers, where the runtime says so. */
  readonly requestId: string | undefined;
}

export interface SessionClosed extends Envelope {
  readonly type: "session.closed";
  readonly reason: string | undefined;
}

export interface ListedJob {
  readonly jobId: string;
  readonly agent: string;
  readonly status: string;
  readonly lease: LeaseShape;
  readonly parentJobId: string | undefined;
  readonly createdAt: string | undefined;
  readonly traceId: string | undefined;
  readonly lastEventSeq: number;
}

export interface JobsListing extends Envelope {
  readonly type: "session.jobs";
  readonly requestId: string | undefined;
  readonly jobs: readonly ListedJob[];
  readonly nextCursor: string | undefined;
}

export interface CredentialShape {
  readonly id: string;
  readonly scheme: string;
  readonly value: string | undefined;
  readonly endpoint: string | undefined;
  readonly profile: string | undefined;
  readonly constraints: JsonRecord | undefined;
}

export interface Accepted extends Envelope {
  readonly type: "job.accepted";
  readonly jobId: string;
  readonly agent: string | undefined;
  readonly acceptedAt: string | undefined;
  readonly lease: LeaseShape;
  readonly leaseConstraints: LeaseConstraints | undefined;
  readonly budget: ReadonlyMap<string, Amount>;
  readonly credentials: readonly CredentialShape[];
  readonly requestId: string | undefined;
  readonly parentJobId: string | undefined;
  readonly delegateId: string | undefined;
}

export interface EventMessage extends Envelope {
  readonly type: "job.event";
  readonly jobId: string | undefined;
  readonly eventSeq: number | undefined;
  readonly ts: string | undefined;
  /** As they came. */
  readonly kind: string;
  readonly body: JsonRecord;
  /** The event, typed; undefined for unknown kinds and bodies, which are ignored. */
  readonly event: JobStreamEvent | undefined;
}

/** How a job ended, whichever way. */
export interface JobEnd {
  readonly status: "success" | "error" | "cancelled" | "timed_out";
  /** Its result: a value, or for a streamed result its text, or bytes where a part was binary. */
  readonly result: unknown;
  /** Of a result that came in parts. */
  readonly resultId: string | undefined;
  readonly summary: string | undefined;
  /** The error, where the runtime gives one. */
  readonly error: ToldError | undefined;
  readonly completedAt: string | undefined;
  /** The runtime's own words. */
  readonly payload: JsonRecord;
}

/** The one end of a job: from `job.result` or `job.error`, with any status. */
export interface JobEndMessage extends Envelope, JobEnd {
  readonly type: "job.result" | "job.error";
  readonly jobId: string | undefined;
  readonly eventSeq: number | undefined;
  readonly resultSize: number | undefined;
  /** A result in chunks that is JSON text, and stands for its value. */
  readonly isJson: boolean;
}

export interface Cancelled extends Envelope {
  readonly type: "job.cancelled";
  readonly reason: string | undefined;
}

export interface Subscribed extends Envelope {
  readonly type: "job.subscribed";
  readonly requestId: string | undefined;
  readonly jobId: string;
  readonly status: string;
  readonly agent: string;
  readonly lease: LeaseShape;
  readonly budget: ReadonlyMap<string, Amount>;
  readonly parentJobId: string | undefined;
  readonly subscribedFrom: number;
  readonly replayed: boolean;
}

/** A type this client does not know; it is ignored. */
export interface UnknownMessage extends Envelope {
  readonly type: "unknown";
  readonly name: string;
}

export type RuntimeMessage =
  | Welcome
  | SessionError
  | SessionClosed
  | Ping
  | Pong
  | Bye
  | JobsListing
  | Accepted
  | EventMessage
  | JobEndMessage
  | Cancelled
  | Subscribed
  | UnknownMessage;
