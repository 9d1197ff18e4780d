import { expect, test } from "vitest";
import { amountText } from "../../../core/jobs/decimal.ts";
import type { RuntimeMessage } from "./messages.ts";
import { budgetIn, decodeReply } from "./reading.ts";
import { frame, REPLIES } from "../../../../test/support/arcp/frames.ts";

function decoded(text: string): RuntimeMessage {
  const result = decodeReply(text);
  if (!result.ok) throw new Error(result.message);
  return result.message;
}

function reply(type: string, payload: unknown, head: Record<string, unknown> = {}) {
  return decoded(frame(type, payload, head));
}

const END = { completed_at: "2026-11-15T10:00:00Z" };

test("every frame that runtimes send is decoded", () => {
  const types = new Set(REPLIES.map((text) => decoded(text).type));
  expect(types).not.toContain("unknown");
  expect(types.size).toBe(10);
});

// "Take the session id from the envelope, else from the payload."
test("the session id of a welcome is found in either place", () => {
  const bare = { session_id: undefined };
  expect(reply("session.welcome", { session_id: "sess_p" }, bare)).toMatchObject({
    sessionId: "sess_p",
    resumeWindowSec: 600,
    heartbeatIntervalSec: undefined,
    features: [],
    agents: [],
  });
  expect(reply("session.welcome", {}, { session_id: "sess_e" })).toMatchObject({
    sessionId: "sess_e",
  });
  expect(decodeReply(frame("session.welcome", {}, bare))).toMatchObject({
    ok: false,
    message: "payload.session_id is missing",
  });
});

// "Accept numbers or "CUR:dec" strings in budget"
test.each([
  [{ USD: 2.5 }, "2.5"],
  [{ USD: "2.50" }, "2.5"],
  [{ USD: "USD:2.50" }, "2.5"],
  [{ USD: -0.12 }, "-0.12"],
  [{ USD: "EUR:1" }, undefined],
  [{ USD: null }, undefined],
  [null, undefined],
  [[1], undefined],
])("a budget %j is %s", (budget, expected) => {
  const amount = budgetIn(budget).get("USD");
  expect(amount === undefined ? undefined : amountText(amount)).toBe(expected);
});

// "bool or int replayed, created_at or submitted_at, missing lease/last_event_seq/next_cursor"
test("what a runtime leaves out or calls otherwise is found", () => {
  const subscribed = { job_id: "job_x", current_status: "running", agent: "slow" };
  expect(reply("job.subscribed", { ...subscribed, replayed: 2 })).toMatchObject({
    replayed: true,
    lease: {},
    subscribedFrom: 0,
  });
  expect(reply("job.subscribed", { ...subscribed, replayed: 0 })).toMatchObject({
    replayed: false,
  });
  const jobs = [{ job_id: "a", submitted_at: "t1" }, { job_id: "b", created_at: "t2" }, {}, 7];
  expect(reply("session.jobs", { jobs })).toMatchObject({
    nextCursor: undefined,
    jobs: [
      { jobId: "a", createdAt: "t1", lastEventSeq: 0, lease: {} },
      { jobId: "b", createdAt: "t2" },
    ],
  });
});

// "A terminal is job.result with any status or job.error with any status."
test.each([
  ["job.result", { final_status: "success", result: 1 }, "success"],
  ["job.result", { final_status: "cancelled" }, "cancelled"],
  ["job.result", { final_status: "timed_out" }, "timed_out"],
  ["job.result", {}, "success"],
  ["job.error", { final_status: "cancelled", code: "CANCELLED" }, "cancelled"],
  ["job.error", { final_status: "timed_out", code: "TIMEOUT" }, "timed_out"],
  ["job.error", { code: "INTERNAL_ERROR", message: "x" }, "error"],
  ["job.error", { final_status: "success" }, "error"],
])("%s %j ends with %s", (type, payload, status) => {
  expect(reply(type, { ...payload, ...END })).toMatchObject({ type, status });
});

test("an error is told with its request, and a missing flag follows its code", () => {
  const details = { request_id: "msg_1" };
  const told = reply("session.error", { code: "TIMEOUT", message: "late", details });
  expect(told).toMatchObject({ requestId: "msg_1", error: { code: "TIMEOUT", retryable: true } });
  // "details:null", as the Python runtime sends it.
  const python = reply("session.error", {
    code: "X",
    message: "m",
    retryable: false,
    details: null,
  });
  expect(python).toMatchObject({ requestId: undefined, error: { code: "X", details: undefined } });
});

test("an event keeps its number even where nobody knows its kind", () => {
  const unknown = reply(
    "job.event",
    { kind: "mystery", ts: "t", body: { a: 1 } },
    { event_seq: 7 },
  );
  expect(unknown).toMatchObject({ eventSeq: 7, kind: "mystery", body: { a: 1 }, event: undefined });
  const python = { kind: "tool_call", body: { tool_call_id: "c1", name: "s", arguments: {} } };
  expect(reply("job.event", python)).toMatchObject({
    event: { kind: "tool_call", body: { tool: "s", call_id: "c1", args: {} } },
  });
});

// "Both clients ignore unknown types."
test("a type nobody knows is no error", () => {
  expect(reply("x-vendor.acme.hi", {})).toMatchObject({
    type: "unknown",
    name: "x-vendor.acme.hi",
  });
});

test("the job of an acceptance is found on either place, and its trace too", () => {
  const trace = "5b8efff798038103d269b633813fc60c";
  expect(reply("job.accepted", { trace_id: trace }, { job_id: "job_e" })).toMatchObject({
    jobId: "job_e",
    traceId: trace,
    agent: undefined,
    credentials: [],
  });
  expect(decodeReply(frame("job.accepted", {}))).toMatchObject({ ok: false });
});
