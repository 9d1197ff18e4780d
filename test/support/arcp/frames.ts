/**
 * Frames as they were seen on the wire, or as the page shows them: what tests decode, and what the
 * fuzz test spoils.
 */
const SESSION = "sess_01KZ4TA0000000000000000003";
const JOB = "job_01KZ4TA000000000000000000C";
const TRACE = "5b8efff798038103d269b633813fc60c";

let lastId = 0;

/** A frame as the page writes them, with fields of the test's own. */
export function frame(type: string, payload: unknown, head: Record<string, unknown> = {}): string {
  lastId += 1;
  const id = `msg_01KZ4TA${String(lastId).padStart(19, "0")}`;
  return JSON.stringify({ arcp: "1.1", id, type, session_id: SESSION, ...head, payload });
}

const ALL_FEATURES = ["heartbeat", "ack", "list_jobs", "subscribe", "agent_versions"];
const AUTH = { scheme: "bearer", token: "s3cr3t" };
const RESUME = { session_id: SESSION, resume_token: "rt_9f", last_event_seq: 41 };

/** One of every message that clients send. */
export const REQUESTS: readonly string[] = [
  frame("session.hello", {
    client: { name: "ops-cli", version: "3.1.0" },
    auth: AUTH,
    capabilities: { encodings: ["json"], features: ALL_FEATURES },
  }),
  frame("session.hello", {
    client: { name: "raw", version: "0" },
    auth: AUTH,
    capabilities: { agents: [] },
    resume: RESUME,
  }),
  frame("session.resume", { resume_token: "rt_9f", last_event_seq: 41, auth: AUTH }),
  frame("session.ping", { nonce: "p-17", sent_at: "2026-11-15T10:00:30.000Z" }),
  frame("session.pong", { ping_nonce: "p-17", received_at: "2026-11-15T10:00:30.004Z" }),
  frame("session.ack", { last_processed_seq: 128 }),
  frame("session.list_jobs", {
    filter: { status: ["running"], agent: "indexer", created_after: "2026-11-15T10:00:00Z" },
    limit: 50,
    cursor: null,
  }),
  frame("session.bye", { reason: "shutdown" }),
  frame("session.close", {}),
  frame(
    "job.submit",
    {
      agent: "indexer@1.1.0",
      input: { root: "/data", list: [1, 2.5, null, true, "é😀"] },
      lease_request: { "fs.read": ["/data/**"], "cost.budget": ["USD:2.50"] },
      lease_constraints: { expires_at: "2036-11-15T12:00:00Z" },
      idempotency_key: "idx-2026-11-15",
      max_runtime_sec: 900,
    },
    { trace_id: TRACE },
  ),
  frame("job.submit", { agent: "echo" }, { trace_id: `00-${TRACE}-00f067aa0ba902b7-01` }),
  frame("job.cancel", { reason: "operator" }, { job_id: JOB }),
  frame("job.cancel", { job_id: JOB }),
  frame("job.subscribe", { job_id: JOB, history: true, from_event_seq: 0 }, { job_id: JOB }),
  frame("job.unsubscribe", { job_id: JOB }),
  frame("x-vendor.acme.hi", {}, { extensions: { optional: true } }),
];

function event(kind: string, body: unknown, seq = 1): string {
  const payload = { kind, ts: "2026-11-15T20:05:32.572Z", body };
  return frame("job.event", payload, { job_id: JOB, trace_id: TRACE, event_seq: seq });
}

function terminal(type: string, payload: unknown): string {
  return frame(type, payload, { job_id: JOB, event_seq: 14 });
}

const ENDED = { completed_at: "2026-11-15T20:05:32.572Z" };

/** What the Python runtime was seen to send, and what the specification would. */
export const REPLIES: readonly string[] = [
  frame("session.welcome", {
    runtime: { name: "probe-rt", version: "1.1.0" },
    session_id: SESSION,
    resume_token: "rtk_~5AD7S",
    resume_window_sec: 600,
    heartbeat_interval_sec: 30,
    capabilities: {
      encodings: ["json"],
      features: ALL_FEATURES,
      agents: [{ name: "indexer", versions: ["1.0.0", "1.1.0"], default: "1.1.0" }, "echo"],
    },
    accepted_at: "2026-11-15T20:05:32.135Z",
  }),
  frame("session.error", {
    code: "DUPLICATE_KEY",
    message: "idempotency key 'k' already used with different parameters",
    retryable: false,
    details: null,
  }),
  frame("session.jobs", {
    request_id: "~FRQE1",
    jobs: [{ job_id: JOB, agent: "echo", status: "success", submitted_at: "2026-11-15T20:05:32Z" }],
    next_cursor: "1",
  }),
  frame(
    "job.accepted",
    {
      job_id: JOB,
      agent: "kinds",
      accepted_at: "2026-11-15T20:05:32.571Z",
      lease: { "cost.budget": ["USD:5.00", "USD:0.50"], "net.fetch": ["https://*"] },
      lease_constraints: null,
      budget: { USD: "USD:5.50", credits: "credits:10" },
      credentials: [{ id: "cred_1", scheme: "bearer", value: "v", endpoint: "https://e" }],
      request_id: "~BYEE4",
    },
    { job_id: JOB },
  ),
  event("log", { level: "debug", message: "hello", attributes: { k: 1 } }),
  event("metric", { name: "cost.inference", value: 1e-5, unit: "USD" }, 2),
  event("tool_call", { tool_call_id: "c1", name: "search", arguments: { q: "x" } }, 3),
  event("tool_result", { tool_call_id: "c1", output: [1, 2] }, 4),
  event("progress", { current: 1, total: 3, units: "files", message: "one" }, 5),
  event("result_chunk", { result_id: "r", chunk_seq: 0, data: "AAE=", encoding: "base64" }, 6),
  event("x-vendor.acme.thing", { i: 1 }, 7),
  terminal("job.result", { final_status: "success", result: { echoed: { x: 1 } }, ...ENDED }),
  terminal("job.result", { final_status: "cancelled", ...ENDED }),
  terminal("job.error", {
    final_status: "timed_out",
    code: "TIMEOUT",
    message: "ran longer than 900 s",
    retryable: true,
    ...ENDED,
  }),
  frame("job.cancelled", { reason: "operator" }, { job_id: JOB }),
  frame("job.subscribed", {
    request_id: "~A29Y2",
    job_id: JOB,
    current_status: "running",
    agent: "slow",
    lease: {},
    budget: { USD: 1.9 },
    parent_job_id: null,
    subscribed_from: 2,
    replayed: 2,
  }),
  frame("session.closed", {}),
];
