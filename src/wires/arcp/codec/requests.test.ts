import { expect, test } from "vitest";
import { FRAME_LIMITS } from "./limits.ts";
import type { ClientMessage, Hello } from "./messages.ts";
import { decodeRequest } from "./requests.ts";
import { frame, REQUESTS } from "../../../../test/support/arcp/frames.ts";

const SUBMIT = { agent: "echo" };
const HELLO = { client: { name: "c", version: "1" }, auth: { token: "t" } };
const TRACE = "5b8efff798038103d269b633813fc60c";

function decoded(text: string): ClientMessage {
  const result = decodeRequest(text);
  if (!result.ok) throw new Error(result.message);
  return result.message;
}

function problem(text: string): string {
  const result = decodeRequest(text);
  return result.ok ? "decoded" : result.message;
}

function hello(payload: unknown, head: Record<string, unknown> = {}): Hello {
  const message = decoded(frame("session.hello", payload, head));
  if (message.type !== "session.hello") throw new Error(message.type);
  return message;
}

test("every message that clients send is decoded to its type", () => {
  const types = REQUESTS.map((text) => decoded(text).type);
  expect(new Set(types)).toEqual(
    new Set(
      [
        "session.hello session.ping session.pong session.ack session.list_jobs session.bye",
        "session.close job.submit job.cancel job.subscribe job.unsubscribe x-vendor",
      ].flatMap((line) => line.split(" ")),
    ),
  );
});

test("a submit is decoded with the names of ours", () => {
  const text = REQUESTS.find((each) => each.includes("indexer@1.1.0")) ?? "";
  expect(decoded(text)).toMatchObject({
    type: "job.submit",
    agent: "indexer@1.1.0",
    traceId: TRACE,
    leaseRequest: { "fs.read": ["/data/**"], "cost.budget": ["USD:2.50"] },
    leaseConstraints: { expiresAtMs: Date.parse("2036-11-15T12:00:00Z") },
    idempotencyKey: "idx-2026-11-15",
    maxRuntimeSec: 900,
    parentJobId: undefined,
  });
});

// "One JSON object per frame, UTF-8, no batching (a JSON array is an error in all SDKs)."
test.each(["", "not json", "[]", '["a"]', "1", "null", '"x"', "{", '{"a":1}{"b":2}'])(
  "%j is no frame",
  (text) => expect(problem(text)).toBe("a frame is one JSON object"),
);

// "arcp values "1", "1.0", "2", "", "01" are rejected; only "1.1"." "accepts "1.1" or absent"
test("the version is 1.1, or not said", () => {
  for (const arcp of ["1", "1.0", "2", "", "01", 1.1]) {
    expect(problem(frame("session.bye", {}, { arcp }))).toBe('arcp is not "1.1"');
  }
  expect(problem(frame("session.bye", {}, { arcp: undefined }))).toBe("decoded");
});

// "any non-empty ≤128"
test("an id is any text of some length", () => {
  for (const id of ["1", "bad id", "3f2b8c1e-1111-4222-8333-444455556666", "x".repeat(128)]) {
    expect(decoded(frame("session.bye", {}, { id })).id).toBe(id);
  }
  expect(problem(frame("session.bye", {}, { id: "x".repeat(129) }))).toMatch(/^id has 129/);
  expect(problem(frame("session.bye", {}, { id: "" }))).toBe("id is empty");
  expect(problem(frame("session.bye", {}, { id: undefined }))).toBe("id is missing");
  expect(problem(frame("session.bye", {}, { id: "a\u001b" }))).toMatch(/control/);
});

// "tolerate 00-<32hex>-<16hex>-<2hex> by extracting the middle part"
test("a trace id comes bare or in a traceparent", () => {
  const withTrace = (trace: unknown) => frame("job.submit", SUBMIT, { trace_id: trace });
  expect(decoded(withTrace(TRACE)).traceId).toBe(TRACE);
  expect(decoded(withTrace(`00-${TRACE}-00f067aa0ba902b7-01`)).traceId).toBe(TRACE);
  expect(decoded(withTrace(null)).traceId).toBeUndefined();
  // "trace_id upper-case, 31 chars or all zeros rejected."
  for (const trace of [TRACE.toUpperCase(), TRACE.slice(1), "0".repeat(32), 7, "", "00--01"]) {
    expect(problem(withTrace(trace))).toMatch(/^trace_id /);
  }
});

// "Unknown top-level fields: ignore ([S] MUST)."
test("unknown fields are ignored, null is absent, and the payload may be missing", () => {
  const extra = { future: 1, timestamp: "x", job_id: null, session_id: null, extensions: null };
  expect(decoded(frame("session.bye", { reason: null, more: 1 }, extra))).toMatchObject({
    reason: undefined,
    sessionId: undefined,
    jobId: undefined,
  });
  expect(problem(frame("session.bye", undefined))).toBe("decoded");
  expect(problem(frame("session.bye", []))).toBe("payload is not an object");
  expect(problem(frame("session.bye", {}, { extensions: 1 }))).toBe("extensions is not an object");
});

// "unknown session.*/job.* ⇒ INVALID_REQUEST; unknown x-vendor.a.b ⇒ dropped if optional"
test("an unknown type is refused, unless it is a vendor's and optional", () => {
  const optional = { extensions: { optional: true } };
  const name = "x-vendor.acme.hi";
  expect(decoded(frame(name, {}, optional))).toMatchObject({ type: "x-vendor", name });
  expect(problem(frame(name, {}))).toBe(`type names no message: "${name}"`);
  expect(problem(frame("job.frobnicate", {}, optional))).toMatch(/names no message/);
  for (const type of ["foo.bar", "session.open", "tool.invoke", "job.event", "session.welcome"]) {
    expect(problem(frame(type, {}))).toBe(`type names no message: "${type}"`);
  }
});

test("a refusal says which request it refuses, where it can be known", () => {
  const refused = decodeRequest(frame("job.submit", {}, { id: "r-1", trace_id: TRACE }));
  expect(refused).toEqual({
    ok: false,
    code: "INVALID_REQUEST",
    message: "payload.agent is missing",
    requestId: "r-1",
    requestType: "job.submit",
    traceId: TRACE,
  });
  expect(decodeRequest('{"id":7,"type":"a\\u0000"}')).toMatchObject({
    requestId: undefined,
    requestType: undefined,
  });
});

test.each([
  ["session.hello", { auth: { token: "t" } }, "payload.client.name is missing"],
  ["session.hello", { client: HELLO.client }, "payload.auth.token is missing"],
  ["session.hello", { ...HELLO, auth: { scheme: "none", token: "t" } }, /auth\.scheme is not/],
  ["session.hello", { ...HELLO, auth: { token: "" } }, "payload.auth.token is empty"],
  ["session.hello", { ...HELLO, capabilities: { features: "ack" } }, /features is not a list/],
  ["session.hello", { ...HELLO, capabilities: { encodings: ["cbor"] } }, /does not name json/],
  ["session.hello", { ...HELLO, resume: {} }, "payload.resume.session_id is missing"],
  ["session.resume", { resume_token: "r", last_event_seq: 0 }, "payload.auth.token is missing"],
  ["session.ping", { nonce: "n" }, "payload.sent_at is missing"],
  ["session.pong", { received_at: "x" }, "payload.ping_nonce is missing"],
  ["session.ack", { last_processed_seq: -1 }, /last_processed_seq is -1, allowed is at least 0/],
  ["session.ack", { last_processed_seq: 1.5 }, /is not a whole number/],
  ["session.ack", {}, "payload.last_processed_seq is missing"],
  ["session.list_jobs", { limit: 0 }, "payload.limit is 0, allowed is 1 to 1000"],
  ["session.list_jobs", { limit: 1001 }, "payload.limit is 1001, allowed is 1 to 1000"],
  ["session.list_jobs", { filter: { status: ["done"] } }, /filter\.status names no state/],
  ["session.list_jobs", { filter: { created_after: "yesterday" } }, /created_after is not a mom/],
  ["session.list_jobs", { filter: { created_before: "2026-01-01T00:00:00" } }, /with its offset/],
  ["job.submit", { agent: "@bad" }, "payload.agent is not a name or name@version"],
  ["job.submit", { ...SUBMIT, lease_request: null }, /lease_request is null/],
  ["job.submit", { ...SUBMIT, lease_request: [] }, "payload.lease_request is not an object"],
  ["job.submit", { ...SUBMIT, lease_request: { "fs.read": "/a" } }, /fs\.read is not a list/],
  ["job.submit", { ...SUBMIT, lease_request: { "fs.read": [1] } }, /fs\.read is not a list/],
  ["job.submit", { ...SUBMIT, idempotency_key: "" }, "payload.idempotency_key is empty"],
  ["job.submit", { ...SUBMIT, idempotency_key: "k".repeat(257) }, /has 257 characters/],
  ["job.submit", { ...SUBMIT, max_runtime_sec: 0 }, /max_runtime_sec is 0, allowed is 1 to 86400/],
  ["job.submit", { ...SUBMIT, max_runtime_sec: 86_401 }, /allowed is 1 to 86400/],
  [
    "job.submit",
    { ...SUBMIT, lease_constraints: { expires_at: "2036-01-01T00:00:00+02:00" } },
    "payload.lease_constraints.expires_at is not a moment in UTC",
  ],
  ["job.cancel", { reason: "x" }, "payload.job_id is missing"],
  ["job.subscribe", { job_id: "job_x", history: 1 }, /history is not true or false/],
  ["job.subscribe", { job_id: "job_x", from_event_seq: -1 }, /from_event_seq is -1/],
  ["job.unsubscribe", {}, "payload.job_id is missing"],
])("%s %j is refused: %s", (type, payload, expected) => {
  if (typeof expected === "string") expect(problem(frame(type, payload))).toBe(expected);
  else expect(problem(frame(type, payload))).toMatch(expected);
});

test("what may be left out has a default", () => {
  expect(decoded(frame("job.submit", SUBMIT))).toMatchObject({
    input: undefined,
    leaseRequest: {},
  });
  expect(decoded(frame("job.cancel", {}, { job_id: "job_x" }))).toMatchObject({
    jobId: "job_x",
    reason: "client.cancel",
  });
  expect(decoded(frame("job.cancel", { job_id: "job_y" }))).toMatchObject({ jobId: "job_y" });
  expect(decoded(frame("session.list_jobs", {}))).toMatchObject({ limit: 100, cursor: undefined });
  expect(decoded(frame("job.subscribe", { job_id: "job_x" }))).toMatchObject({
    history: false,
    fromEventSeq: 0,
  });
  expect(
    decoded(frame("job.submit", { ...SUBMIT, idempotency_key: "k".repeat(256) })),
  ).toBeTruthy();
  expect(decoded(frame("job.submit", { ...SUBMIT, max_runtime_sec: 86_400 }))).toBeTruthy();
});

test("features that nobody knows are left out, in the client's order otherwise", () => {
  const capabilities = { features: ["ack", "teleport", "heartbeat", "ack"] };
  expect(hello({ ...HELLO, capabilities }).features).toEqual(["ack", "heartbeat"]);
  expect(hello(HELLO).features).toEqual([]);
});

test("session.resume is another name for a hello that resumes", () => {
  const payload = { resume_token: "rt", last_event_seq: 41, auth: HELLO.auth };
  const message = decoded(frame("session.resume", payload, { session_id: "sess_1" }));
  expect(message).toMatchObject({
    type: "session.hello",
    profile: "spec",
    resume: { sessionId: "sess_1", resumeToken: "rt", lastEventSeq: 41 },
  });
  expect(problem(frame("session.resume", payload, { session_id: undefined }))).toBe(
    "payload.session_id is missing",
  );
});

test("the first frame tells which shapes the client takes", () => {
  const ulid = "01KZ4TA0000000000000000001";
  const python = { ...HELLO, capabilities: { agents: [] } };
  expect(hello(HELLO, { id: `msg_${ulid}` }).profile).toBe("ts");
  expect(hello(python, { id: ulid }).profile).toBe("py");
  expect(hello(HELLO, { id: ulid }).profile).toBe("spec");
  expect(hello(python, { id: "hello-1" }).profile).toBe("spec");
  expect(hello({ ...HELLO, capabilities: { agents: ["x"] } }, { id: ulid }).profile).toBe("spec");
});

test("no input reaches into prototypes, and a namespace cannot either", () => {
  const input = JSON.parse('{"deep":[{"__proto__":{"polluted":true}}]}') as unknown;
  expect(problem(frame("job.submit", { ...SUBMIT, input }))).toBe(
    "payload.input holds a field named __proto__",
  );
  const lease = JSON.parse('{"__proto__":["x"],"constructor":["y"]}') as unknown;
  expect(problem(frame("job.submit", { ...SUBMIT, lease_request: lease }))).toMatch(/no namespace/);
  const hidden = frame("job.submit", {}).replace(
    '"payload":{',
    '"__proto__":{"payload":{"agent":"a"}},$&',
  );
  expect(problem(hidden)).toBe("payload.agent is missing");
});

test("a frame beyond the size is refused before it is read", () => {
  const text = frame("job.submit", { ...SUBMIT, input: "x".repeat(FRAME_LIMITS.inboundBytes) });
  expect(decodeRequest(text)).toMatchObject({ ok: false, requestId: undefined });
});
