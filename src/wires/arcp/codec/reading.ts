/**
 * Frames of runtimes, read as a client must to work with each of them: null is absent, budgets are
 * numbers or text, both names of a field count, a missing field has a harmless value. A frame is
 * refused only without a field that a client needs.
 */
import { readEvent } from "../../../core/jobs/event-reading.ts";
import { amountOfNumber, type Amount } from "../../../core/jobs/decimal.ts";
import type { AgentListing } from "../../../core/jobs/agent-ref.ts";
import { utcInstantOf } from "../../../core/jobs/instant.ts";
import { isRecord, type JsonRecord } from "../../../core/json-object.ts";
import type { Reader } from "../../../core/jobs/json.ts";
import { decodeFrame, messageOf, type DecodeResult, type OpenedFrame } from "./envelope.ts";
import { isRetryable, isArcpCode } from "./errors.ts";
import { FRAME_LIMITS, HELLO, REPLY, REQUEST } from "./limits.ts";
import type {
  Accepted,
  CredentialShape,
  EventMessage,
  ListedJob,
  LeaseShape,
  RuntimeMessage,
  Subscribed,
  JobEndMessage,
  ToldError,
  Welcome,
} from "./messages.ts";
import { isFeature } from "./requests.ts";

const ID = { max: FRAME_LIMITS.idLength } as const;

export function decodeReply(text: string): DecodeResult<RuntimeMessage> {
  return decodeFrame(text, readReply);
}

function readReply(frame: OpenedFrame): RuntimeMessage {
  const { type, envelope, fields, payload } = frame;
  switch (type) {
    case "job.event":
      return eventOf(frame);
    case "job.accepted":
      return acceptedOf(frame);
    case "job.result":
    case "job.error":
      return terminalOf(frame);
    case "session.welcome":
      return welcomeOf(frame);
    case "session.error": {
      const error = toldError(payload);
      return messageOf(envelope, { type, error, requestId: textIn(error.details, "request_id") });
    }
    case "session.ping":
      return messageOf(envelope, {
        type,
        nonce: fields.text("nonce", { max: REQUEST.nonceLength }),
        sentAt: textIn(payload, "sent_at") ?? "",
      });
    case "session.pong":
      return messageOf(envelope, {
        type,
        pingNonce: fields.text("ping_nonce", { max: REQUEST.nonceLength }),
        receivedAt: textIn(payload, "received_at") ?? "",
      });
    case "session.bye":
    case "session.closed":
    case "job.cancelled":
      return messageOf(envelope, { type, reason: textIn(payload, "reason") });
    case "session.jobs": {
      const requestId = textIn(payload, "request_id");
      const nextCursor = textIn(payload, "next_cursor");
      return messageOf(envelope, { type, requestId, jobs: entriesOf(fields), nextCursor });
    }
    case "job.subscribed":
      return subscribedOf(frame);
    default:
      return messageOf(envelope, { type: "unknown", name: type });
  }
}

function welcomeOf({ envelope, fields, payload }: OpenedFrame): Welcome {
  const capabilities = objectIn(payload, "capabilities") ?? {};
  const { features, agents } = capabilities;
  const runtime = objectIn(payload, "runtime") ?? {};
  return messageOf(envelope, {
    type: "session.welcome",
    sessionId: envelope.sessionId ?? fields.text("session_id", ID),
    runtime: {
      name: textIn(runtime, "name") ?? "unknown",
      version: textIn(runtime, "version") ?? "0",
    },
    resumeToken: fields.optionalText("resume_token", { max: HELLO.resumeTokenLength }),
    resumeWindowSec: wholeIn(payload, "resume_window_sec") ?? 600,
    heartbeatIntervalSec: wholeIn(payload, "heartbeat_interval_sec") || undefined,
    features: Array.isArray(features) ? features.filter(isText).filter(isFeature) : [],
    agents: Array.isArray(agents) ? agents.slice(0, REPLY.agents).flatMap(listingOf) : [],
  });
}

/** A bare name, or a name with its versions. */
function listingOf(value: unknown): readonly AgentListing[] {
  if (isText(value)) return [{ name: value, versions: [] }];
  if (!isRecord(value) || !isText(value["name"])) return [];
  const versions = Array.isArray(value["versions"]) ? value["versions"].filter(isText) : [];
  const listing = { name: value["name"], versions };
  return [isText(value["default"]) ? { ...listing, default: value["default"] } : listing];
}

function acceptedOf({ envelope, fields, payload }: OpenedFrame): Accepted {
  const expiresAt = textIn(objectIn(payload, "lease_constraints"), "expires_at");
  const expiresAtMs = expiresAt === undefined ? undefined : utcInstantOf(expiresAt);
  const credentials = payload["credentials"];
  return messageOf(envelope, {
    traceId: envelope.traceId ?? textIn(payload, "trace_id"),
    type: "job.accepted",
    jobId: fields.optionalText("job_id", ID) ?? envelope.jobId ?? fields.text("job_id", ID),
    agent: textIn(payload, "agent"),
    acceptedAt: textIn(payload, "accepted_at"),
    lease: leaseIn(payload),
    leaseConstraints: expiresAtMs === undefined ? undefined : { expiresAtMs },
    budget: budgetIn(payload["budget"]),
    credentials: Array.isArray(credentials) ? credentials.flatMap(credentialOf) : [],
    requestId: textIn(payload, "request_id"),
    parentJobId: textIn(payload, "parent_job_id"),
    delegateId: textIn(payload, "delegate_id"),
  });
}

function credentialOf(value: unknown): readonly CredentialShape[] {
  const id = isRecord(value) ? textIn(value, "id") : undefined;
  if (!isRecord(value) || id === undefined) return [];
  return [
    {
      id,
      scheme: textIn(value, "scheme") ?? "bearer",
      value: textIn(value, "value"),
      endpoint: textIn(value, "endpoint"),
      profile: textIn(value, "profile"),
      constraints: objectIn(value, "constraints"),
    },
  ];
}

/** `{"USD": 2.5}`, `{"USD": "2.5"}` and `{"USD": "USD:2.5"}` say the same. */
export function budgetIn(value: unknown): ReadonlyMap<string, Amount> {
  const budget = new Map<string, Amount>();
  if (!isRecord(value)) return budget;
  for (const [currency, said] of Object.entries(value)) {
    if (typeof said !== "number" && typeof said !== "string") continue;
    const isTagged = typeof said === "string" && said.startsWith(`${currency}:`);
    const amount = amountOfNumber(isTagged ? said.slice(currency.length + 1) : said);
    if (amount !== undefined) budget.set(currency, amount);
  }
  return budget;
}

function eventOf({ envelope, eventSeq, fields, payload }: OpenedFrame): EventMessage {
  const kind = fields.text("kind", { max: FRAME_LIMITS.typeLength });
  const body = fields.optionalFreeObject("body", FRAME_LIMITS.depth) ?? {};
  const ts = textIn(payload, "ts");
  const event = readEvent(kind, body);
  return messageOf(envelope, { type: "job.event", eventSeq, ts, kind, body, event });
}

function terminalOf({ type, envelope, eventSeq, fields, payload }: OpenedFrame): JobEndMessage {
  const isError = type === "job.error";
  const resultSize = wholeIn(payload, "result_size");
  return messageOf(envelope, {
    type: isError ? "job.error" : "job.result",
    eventSeq,
    status: statusOf(payload["final_status"], isError),
    result: fields.free("result", FRAME_LIMITS.depth),
    resultId: textIn(payload, "result_id"),
    resultSize,
    isJson: payload["result_content_type"] === "application/json",
    summary: textIn(payload, "summary"),
    error: isError ? toldError(payload) : undefined,
    completedAt: textIn(payload, "completed_at"),
    payload,
  });
}

function statusOf(said: unknown, isError: boolean): JobEndMessage["status"] {
  if (said === "success" || said === "error") return isError ? "error" : said;
  if (said === "cancelled" || said === "timed_out") return said;
  return isError ? "error" : "success";
}

function subscribedOf({ envelope, fields, payload }: OpenedFrame): Subscribed {
  return messageOf(envelope, {
    type: "job.subscribed",
    requestId: textIn(payload, "request_id"),
    jobId: fields.optionalText("job_id", ID) ?? envelope.jobId ?? fields.text("job_id", ID),
    status: textIn(payload, "current_status") ?? "running",
    agent: textIn(payload, "agent") ?? "unknown",
    lease: leaseIn(payload),
    budget: budgetIn(payload["budget"]),
    parentJobId: textIn(payload, "parent_job_id"),
    subscribedFrom: wholeIn(payload, "subscribed_from") ?? 0,
    // The Python runtime counts what it replayed.
    replayed: Boolean(payload["replayed"]),
  });
}

function entriesOf(fields: Reader): readonly ListedJob[] {
  const jobs = fields.raw("jobs") ?? [];
  if (!Array.isArray(jobs) || jobs.length > REPLY.jobs) {
    fields.fail("jobs", `is not a list of at most ${REPLY.jobs}`);
    return [];
  }
  return jobs.flatMap((job: unknown): readonly ListedJob[] => {
    const jobId = isRecord(job) ? textIn(job, "job_id") : undefined;
    if (!isRecord(job) || jobId === undefined) return [];
    return [
      {
        jobId,
        agent: textIn(job, "agent") ?? "unknown",
        status: textIn(job, "status") ?? "running",
        lease: leaseIn(job),
        parentJobId: textIn(job, "parent_job_id"),
        createdAt: textIn(job, "created_at") ?? textIn(job, "submitted_at"),
        traceId: textIn(job, "trace_id"),
        lastEventSeq: wholeIn(job, "last_event_seq") ?? 0,
      },
    ];
  });
}

function toldError(payload: JsonRecord): ToldError {
  const code = textIn(payload, "code") ?? "INTERNAL_ERROR";
  const { retryable } = payload;
  return {
    code,
    message: (textIn(payload, "message") ?? "").slice(0, REPLY.messageLength),
    retryable: typeof retryable === "boolean" ? retryable : isArcpCode(code) && isRetryable(code),
    details: objectIn(payload, "details"),
  };
}

function leaseIn(object: JsonRecord): LeaseShape {
  const lease = Object.entries(objectIn(object, "lease") ?? {});
  return Object.fromEntries(
    lease.flatMap(([name, patterns]) =>
      Array.isArray(patterns) ? [[name, patterns.filter(isText)]] : [],
    ),
  );
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}

function textIn(object: JsonRecord | undefined, field: string): string | undefined {
  const value = object?.[field];
  return isText(value) && value !== "" ? value : undefined;
}

function wholeIn(object: JsonRecord, field: string): number | undefined {
  const value = object[field];
  return Number.isSafeInteger(value) && (value as number) >= 0 ? (value as number) : undefined;
}

function objectIn(object: JsonRecord, field: string): JsonRecord | undefined {
  const value = object[field];
  return isRecord(value) ? value : undefined;
}
