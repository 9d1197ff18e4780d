/** The requests of clients: one frame of text to one typed message, or a refusal. */
import { agentRefOf } from "../../../core/jobs/agent-ref.ts";
import { instantOf, utcInstantOf } from "../../../core/jobs/instant.ts";
import type { Reader } from "../../../core/jobs/json.ts";
import { LEASE } from "../../../core/jobs/limits.ts";
import { isJobStatus, type JobStatus } from "../../../core/jobs/outcome.ts";
import {
  decodeFrame,
  messageOf,
  unknownType,
  type DecodeResult,
  type OpenedFrame,
} from "./envelope.ts";
import { FRAME_LIMITS, HELLO, REQUEST } from "./limits.ts";
import {
  FEATURES,
  type ClientMessage,
  type Feature,
  type Hello,
  type LeaseConstraints,
  type LeaseShape,
  type ListJobs,
  type Resumption,
  type Submit,
} from "./messages.ts";
import { profileOf } from "./profile.ts";

const VENDOR_TYPE = /^x-vendor(?:\.[a-z0-9_-]+)+$/;
const ID = { max: FRAME_LIMITS.idLength } as const;
const REASON = { max: REQUEST.reasonLength, mayBeEmpty: true } as const;
const STAMP = { max: REQUEST.timestampLength } as const;

export function decodeRequest(text: string): DecodeResult<ClientMessage> {
  return decodeFrame(text, readRequest);
}

function readRequest(frame: OpenedFrame): ClientMessage {
  const { type, envelope, fields } = frame;
  switch (type) {
    case "job.submit":
      return submitOf(frame);
    case "session.ack": {
      const lastProcessedSeq = fields.whole("last_processed_seq", { min: 0 });
      return messageOf(envelope, { type, lastProcessedSeq });
    }
    case "session.ping":
      return messageOf(envelope, {
        type,
        nonce: fields.text("nonce", { max: REQUEST.nonceLength }),
        sentAt: fields.text("sent_at", STAMP),
      });
    case "session.pong":
      return messageOf(envelope, {
        type,
        pingNonce: fields.text("ping_nonce", { max: REQUEST.nonceLength }),
        receivedAt: fields.text("received_at", STAMP),
      });
    case "job.cancel": {
      const reason = fields.optionalText("reason", REASON) ?? "client.cancel";
      return messageOf(envelope, {
        type,
        jobId: envelope.jobId ?? fields.text("job_id", ID),
        reason,
      });
    }
    case "job.subscribe":
      return messageOf(envelope, {
        type,
        jobId: jobIdOf(frame),
        history: fields.optionalFlag("history") ?? false,
        fromEventSeq: fields.optionalWhole("from_event_seq", { min: 0 }) ?? 0,
      });
    case "job.unsubscribe":
      return messageOf(envelope, { type, jobId: jobIdOf(frame) });
    case "session.list_jobs":
      return listJobsOf(frame);
    case "session.hello":
    case "session.resume":
      return helloOf(frame);
    case "session.bye":
    case "session.close":
      return messageOf(envelope, { type, reason: fields.optionalText("reason", REASON) });
    default:
      return vendorOf(frame);
  }
}

/** The job of a subscription is named in the payload; on the envelope it is only repeated. */
function jobIdOf({ envelope, fields }: OpenedFrame): string {
  const named = fields.optionalText("job_id", ID) ?? envelope.jobId;
  return named ?? fields.text("job_id", ID);
}

function vendorOf({ type, envelope, fields }: OpenedFrame): ClientMessage {
  const isOptional = envelope.extensions?.["optional"] === true;
  if (!isOptional || !VENDOR_TYPE.test(type)) {
    fields.problem = `type ${unknownType(type)}`;
  }
  return messageOf(envelope, { type: "x-vendor", name: type });
}

function helloOf({ type, envelope, fields, payload }: OpenedFrame): Hello {
  const isAlias = type === "session.resume";
  const client = fields.inner("client", (inner) => ({
    name: inner.optionalText("name", { max: HELLO.nameLength }),
    version: inner.optionalText("version", { max: HELLO.nameLength }),
  }));
  if (!isAlias && client.name === undefined) fields.fail("client.name", "is missing");
  if (!isAlias && client.version === undefined) fields.fail("client.version", "is missing");
  const token = fields.inner("auth", (inner) => {
    const scheme = inner.raw("scheme");
    if (scheme !== undefined && scheme !== "bearer") inner.fail("scheme", 'is not "bearer"');
    return inner.text("token", { max: HELLO.tokenLength });
  });
  const capabilities = fields.inner("capabilities", (inner) => ({
    features: featuresOf(inner),
    agents: inner.raw("agents"),
    encodings: inner.optionalTexts("encodings", {
      max: HELLO.featureLength,
      entries: HELLO.encodings,
    }),
  }));
  if (capabilities.encodings && !capabilities.encodings.includes("json")) {
    fields.fail("capabilities.encodings", "does not name json");
  }
  const resumed = (inner: Reader): Resumption => ({
    sessionId: inner.optionalText("session_id", ID) ?? sessionIdOf(inner, isAlias, envelope),
    resumeToken: inner.text("resume_token", { max: HELLO.resumeTokenLength }),
    lastEventSeq: inner.whole("last_event_seq", { min: 0 }),
  });
  const isResuming = (payload["resume"] ?? undefined) !== undefined;
  const resume = isAlias ? resumed(fields) : isResuming ? fields.inner("resume", resumed) : null;
  return messageOf(envelope, {
    type: "session.hello",
    profile: profileOf({ type, id: envelope.id, agents: capabilities.agents }),
    client: { name: client.name ?? "unknown", version: client.version ?? "0" },
    token,
    features: capabilities.features,
    resume: resume ?? undefined,
  });
}

function sessionIdOf(inner: Reader, isAlias: boolean, envelope: OpenedFrame["envelope"]): string {
  return (isAlias ? envelope.sessionId : undefined) ?? inner.text("session_id", ID);
}

function featuresOf(capabilities: Reader): readonly Feature[] {
  const bounds = { max: HELLO.featureLength, entries: HELLO.features };
  const named = capabilities.optionalTexts("features", bounds) ?? [];
  return [...new Set(named)].filter(isFeature);
}

export function isFeature(name: string): name is Feature {
  return (FEATURES as readonly string[]).includes(name);
}

function submitOf({ envelope, fields }: OpenedFrame): Submit {
  const agent = fields.text("agent", { max: 256 });
  if (!agentRefOf(agent)) fields.fail("agent", "is not a name or name@version");
  return messageOf(envelope, {
    type: "job.submit",
    agent,
    input: fields.free("input", FRAME_LIMITS.depth),
    leaseRequest: leaseShapeOf(fields),
    leaseConstraints: constraintsOf(fields),
    idempotencyKey: fields.optionalText("idempotency_key", { max: REQUEST.idempotencyKeyLength }),
    maxRuntimeSec: fields.optionalWhole("max_runtime_sec", {
      min: REQUEST.minRuntimeSec,
      max: REQUEST.maxRuntimeSec,
    }),
    parentJobId: fields.optionalText("parent_job_id", ID),
    delegateId: fields.optionalText("delegate_id", ID),
  });
}

const NO_LEASE: LeaseShape = {};

/** Only the shape: what namespaces and patterns mean is for the rules of core to say. */
function leaseShapeOf(fields: Reader): LeaseShape {
  if (fields.isNull("lease_request")) fields.fail("lease_request", "is null, not an object");
  const request = fields.optionalObject("lease_request");
  if (request === undefined) return NO_LEASE;
  const shape: Record<string, readonly string[]> = {};
  const bounds = { max: LEASE.patternLength, entries: LEASE.patterns };
  const names = Object.keys(request);
  if (names.length > LEASE.namespaces) {
    fields.fail("lease_request", `has more than ${LEASE.namespaces} namespaces`);
    return NO_LEASE;
  }
  fields.inner("lease_request", (inner) => {
    for (const name of names) {
      const label = name.slice(0, LEASE.nameLength);
      if (name === "__proto__") inner.fail(label, "is no namespace");
      else if (request[name] === null) inner.fail(label, "is not a list of texts");
      else shape[name] = inner.optionalTexts(name, bounds) ?? [];
    }
  });
  return shape;
}

function constraintsOf(fields: Reader): LeaseConstraints | undefined {
  if (fields.raw("lease_constraints") === undefined) return undefined;
  return fields.inner("lease_constraints", (inner) => {
    const text = inner.optionalText("expires_at", STAMP);
    if (text === undefined) return undefined;
    const expiresAtMs = utcInstantOf(text);
    if (expiresAtMs === undefined) inner.fail("expires_at", "is not a moment in UTC");
    return { expiresAtMs: expiresAtMs ?? 0 };
  });
}

function listJobsOf({ envelope, fields }: OpenedFrame): ListJobs {
  const filter = fields.inner("filter", (inner) => {
    const bounds = { max: HELLO.featureLength, entries: REQUEST.statuses };
    const statuses = inner.optionalTexts("status", bounds);
    if (statuses && !statuses.every(isJobStatus)) inner.fail("status", "names no state of a job");
    return {
      statuses: statuses as readonly JobStatus[] | undefined,
      agent: inner.optionalText("agent", { max: 256 }),
      createdAfterMs: momentOf(inner, "created_after"),
      createdBeforeMs: momentOf(inner, "created_before"),
    };
  });
  const limit = fields.optionalWhole("limit", { min: 1, max: REQUEST.listLimit });
  const cursor = fields.optionalText("cursor", { max: REQUEST.cursorLength });
  return messageOf(envelope, {
    type: "session.list_jobs",
    filter,
    limit: limit ?? REQUEST.listLimitDefault,
    cursor,
  });
}

function momentOf(inner: Reader, field: string): number | undefined {
  const text = inner.optionalText(field, STAMP);
  if (text === undefined) return undefined;
  const ms = instantOf(text);
  if (ms === undefined) inner.fail(field, "is not a moment with its offset");
  return ms;
}
