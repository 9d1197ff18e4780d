/** Inputs and outputs of the ARCP client. */
import type { Amount } from "../../../core/jobs/decimal.ts";
import type { JobStreamEvent } from "../../../core/jobs/events.ts";
import type { JsonRecord } from "../../../core/json-object.ts";
import type { Clock } from "../../../core/clock.ts";
import type { Feature, LeaseShape, ListedJob, Resumption, ToldError } from "../codec/messages.ts";
import type { ServerTrust } from "../../../net/tls/trust.ts";
import type { Transport } from "../server/transport.ts";

export type { JobEnd, Resumption } from "../codec/messages.ts";

/** An event of a job, typed by its kind, with its place and time. */
export type ReceivedEvent = JobStreamEvent & {
  /** Its place in the session; 0 where the runtime gave none. */
  readonly seq: number;
  /** When the agent said it, by the runtime's clock. */
  readonly ts: string;
  /** The body in the words of the runtime, before it was read. */
  readonly raw: JsonRecord;
};

/** Where to connect: an address, something that connects, or a transport to use once. */
export type Destination =
  | string
  | Transport
  | ((signal: AbortSignal) => Transport | Promise<Transport>);

export interface ArcpClientOptions {
  /** The bearer token. */
  readonly token: string;
  /** The path of a unix socket that leads to the address, which is used where it is there. */
  readonly socket?: string;
  /** How to know the server of a `wss:` address; by the authorities of this system unless set. */
  readonly trust?: ServerTrust;
  /** The name and version of this program. */
  readonly client?: { readonly name: string; readonly version: string };
  /** The features to offer; all unless set. */
  readonly features?: readonly Feature[];
  /** Goes on with the session of an earlier client. */
  readonly resume?: Resumption;
  /** Whether a connection that is lost is made again; a bare transport cannot be. */
  readonly reconnect?: boolean;
  /** Whether events are acknowledged as they are read. */
  readonly autoAck?: boolean;
  /** Ends the client. */
  readonly signal?: AbortSignal;
  readonly onState?: (state: ClientState) => void;
  readonly clock?: Clock;
  readonly random?: () => number;
}

/** The state of the connection. */
export type ClientState =
  | { readonly kind: "live" }
  | { readonly kind: "lost"; readonly reason: string }
  /** Nothing was missed. */
  | { readonly kind: "resumed" }
  /** The session was gone: there is another, and jobs were found again by their history. */
  | { readonly kind: "renewed" }
  /** The runtime left out events; these were never sent. */
  | { readonly kind: "gap"; readonly after: number; readonly before: number };

export interface CallOptions {
  readonly signal?: AbortSignal;
  /** How long to wait for the answer, a connection that must be made again included. */
  readonly timeoutMs?: number;
}

export interface SubmitOptions extends CallOptions {
  /** `name`, or `name@version`. */
  readonly agent: string;
  readonly input?: unknown;
  /** The rights of the job: `{"fs.read": ["/data/**"], "cost.budget": ["USD:5"]}`. */
  readonly lease?: LeaseShape;
  /** When the lease ends, and the job with it. */
  readonly expiresAt?: Date;
  /** The same key and parameters give the same job, however often it is submitted. */
  readonly idempotencyKey?: string;
  readonly maxRuntimeSec?: number;
  /** 32 lower-case hex digits; unique, or answers may be mixed up. A new one unless given. */
  readonly traceId?: string;
  /** W3C trace context, for runtimes that trace. */
  readonly traceContext?: { readonly traceparent: string; readonly tracestate?: string };
}

export interface ListOptions extends CallOptions {
  readonly status?: readonly string[];
  readonly agent?: string;
  readonly createdAfter?: Date;
  readonly createdBefore?: Date;
  /** Of a page; all pages are read, as far as the caller reads on. */
  readonly pageSize?: number;
}

export interface SubscribeOptions extends CallOptions {
  /** Whether to get what happened before, too. */
  readonly history?: boolean;
}

export type { Amount, Feature, ListedJob, LeaseShape, ToldError };
