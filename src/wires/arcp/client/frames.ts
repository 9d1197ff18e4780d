/**
 * The frames of this client, in the form that every runtime takes: ids that all of them accept, a
 * reason wherever one of them wants it, no nulls. The hello has an id of another prefix: a runtime
 * that tells SDKs apart by it takes this client for one that follows the text.
 */
import { randomFillSync } from "node:crypto";
import { ulids } from "../../../core/ulid.ts";
import type { Feature } from "../codec/messages.ts";
import type { ListOptions, Resumption, SubmitOptions } from "./types.ts";

export interface OutgoingHead {
  readonly id: string;
  readonly sessionId?: string;
  readonly jobId?: string;
  readonly traceId?: string;
  readonly extensions?: object;
}

export type NewId = () => string;

export function idMaker(nowMs: () => number): NewId {
  return ulids({ nowMs, fillRandom: (bytes) => void randomFillSync(bytes) });
}

export function outgoingFrame(type: string, head: OutgoingHead, payload: object): string {
  const { id, sessionId, jobId, traceId, extensions } = head;
  return JSON.stringify({
    arcp: "1.1",
    id,
    type,
    session_id: sessionId,
    job_id: jobId,
    trace_id: traceId,
    payload,
    extensions,
  });
}

export interface HelloFields {
  readonly client: { readonly name: string; readonly version: string };
  readonly token: string;
  readonly features: readonly Feature[];
  readonly resume: Resumption | undefined;
}

export function helloFrame(id: string, { client, token, features, resume }: HelloFields): string {
  const payload = {
    client,
    auth: { scheme: "bearer", token },
    capabilities: { encodings: ["json"], features },
    resume: resume && {
      session_id: resume.sessionId,
      resume_token: resume.resumeToken,
      last_event_seq: resume.lastEventSeq,
    },
  };
  return outgoingFrame("session.hello", { id: `hello_${id}` }, payload);
}

export function submitPayload(options: SubmitOptions): object {
  const { agent, input, lease, expiresAt, idempotencyKey, maxRuntimeSec } = options;
  return {
    agent,
    ...(input !== null && { input }),
    lease_request: lease ?? {},
    lease_constraints: expiresAt && { expires_at: expiresAt.toISOString() },
    idempotency_key: idempotencyKey,
    max_runtime_sec: maxRuntimeSec,
  };
}

/** The key under which the SDKs carry W3C trace context. */
const TRACE_CONTEXT = "x-vendor.opentelemetry.tracecontext";

export function traceExtensions({ traceContext }: SubmitOptions): object | undefined {
  return traceContext && { [TRACE_CONTEXT]: traceContext };
}

export function listPayload(options: ListOptions, limit: number, cursor: string | undefined) {
  const { status, agent, createdAfter, createdBefore } = options;
  return {
    filter: {
      status,
      agent,
      created_after: createdAfter?.toISOString(),
      created_before: createdBefore?.toISOString(),
    },
    limit,
    cursor,
  };
}
