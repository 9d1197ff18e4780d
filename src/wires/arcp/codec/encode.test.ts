import { expect, test } from "vitest";
import { amountOf } from "../../../core/jobs/decimal.ts";
import type { Outcome } from "../../../core/jobs/outcome.ts";
import {
  acceptedPayload,
  budgetText,
  frameText,
  jobsPayload,
  sessionErrorPayload,
  subscribedPayload,
  welcomePayload,
  type AcceptedFields,
} from "./encode.ts";
import { endingOf, refusedSubmit } from "./endings.ts";
import { arcpError } from "./errors.ts";
import { jobFrame } from "./job-frames.ts";
import type { Profile } from "./profile.ts";
import { decodeReply } from "./reading.ts";
import { wrongForPython, wrongForTypeScript } from "../../../../test/support/arcp/shapes.ts";

const PROFILES: readonly Profile[] = ["spec", "py", "ts"];
const AT = "2026-11-15T10:01:00.000Z";
const TRACE = "5b8efff798038103d269b633813fc60c";
const JOB = "job_01KZ4TA000000000000000000C";
const HEAD = {
  id: "msg_01KZ4TA000000000000000000H",
  sessionId: "sess_01KZ4TA0000000000000000003",
  jobId: JOB,
  traceId: TRACE,
} as const;
const NASTY = 'quote " slash \\ line \n null \u0000 lone \ud800 sep \u2028 é😀';

const BUDGET = new Map([
  ["USD", amountOf("2.50") ?? 0n],
  ["credits", amountOf("10") ?? 0n],
]);

const ACCEPTED: AcceptedFields = {
  jobId: JOB,
  agent: "indexer@1.1.0",
  acceptedAt: AT,
  lease: { "fs.read": ["/data/**"], "cost.budget": ["USD:2.50"] },
  expiresAt: "2036-11-15T12:00:00.000Z",
  budget: BUDGET,
  requestId: NASTY,
  traceId: TRACE,
};

const OUTCOMES: readonly Outcome[] = [
  { status: "success", result: { form: "none" } },
  { status: "success", result: { form: "inline", value: { [NASTY]: NASTY } }, summary: NASTY },
  { status: "success", result: { form: "inline", value: null } },
  { status: "success", result: { form: "inline", value: undefined } },
  { status: "success", result: { form: "streamed", resultId: "res_1", size: 8 } },
  { status: "error", code: "INTERNAL", message: "kaboom" },
  { status: "error", code: "LEASE_EXPIRED", message: NASTY, details: { a: 1 } },
  { status: "error", code: "BUDGET_EXHAUSTED", message: "" },
  { status: "cancelled", reason: "" },
  { status: "timed_out", message: "ran longer than 900 s" },
];

const LOGGED = {
  job: { id: JOB, traceId: TRACE },
  entry: { atMs: 0, kind: "log", body: JSON.stringify({ level: "info", message: NASTY }) },
  time: () => AT,
};

/** Every kind of frame that a client of this profile may get. */
function framesFor(profile: Profile): readonly string[] {
  const session = { id: HEAD.id, sessionId: HEAD.sessionId };
  const numbered = { ...HEAD, eventSeq: 1 };
  const welcome = {
    runtime: { name: "rollcall", version: "1" },
    sessionId: HEAD.sessionId,
    resumeToken: "rt_1",
    resumeWindowSec: 0,
    features: [],
    agents: [{ name: "echo", versions: [] }],
    acceptedAt: AT,
  };
  const entry = { jobId: JOB, agent: "echo", lease: {}, createdAt: AT, lastEventSeq: 0 } as const;
  const refusal = { profile, head: session, freshJobId: JOB, at: AT, requestId: NASTY };
  return [
    frameText("session.welcome", session, welcomePayload(welcome)),
    frameText(
      "session.welcome",
      session,
      welcomePayload({ ...welcome, heartbeatIntervalSec: 30, features: ["agent_versions"] }),
    ),
    frameText("session.error", session, sessionErrorPayload(arcpError("INTERNAL_ERROR", ""))),
    frameText("job.accepted", HEAD, acceptedPayload(profile, ACCEPTED)),
    jobFrame({ ...LOGGED, sessionId: HEAD.sessionId, profile, seq: 1 }),
    ...OUTCOMES.map((outcome) => {
      const { type, payload } = endingOf(profile, outcome, AT);
      return frameText(type, numbered, payload);
    }),
    refusedSubmit({ ...refusal, error: arcpError("AGENT_NOT_AVAILABLE", "no agent nope") }),
    frameText(
      "session.jobs",
      session,
      jobsPayload({ requestId: NASTY, jobs: [{ ...entry, status: "running" }] }),
    ),
    frameText(
      "job.subscribed",
      HEAD,
      subscribedPayload({
        requestId: "r",
        jobId: JOB,
        status: "running",
        agent: "echo",
        lease: {},
        budget: BUDGET,
        subscribedFrom: 0,
        replayed: true,
      }),
    ),
  ];
}

test("every frame of the ts profile has the shape that the TypeScript client needs", () => {
  expect(framesFor("ts").flatMap(wrongForTypeScript)).toEqual([]);
});

test("every frame of the py profile has the shape that the Python client needs", () => {
  expect(framesFor("py").flatMap(wrongForPython)).toEqual([]);
});

test("the shapes differ: each client would fail on frames of the other", () => {
  expect(framesFor("py").flatMap(wrongForTypeScript)).not.toEqual([]);
  expect(framesFor("ts").flatMap(wrongForPython)).not.toEqual([]);
});

test.each(PROFILES)("what goes out to %s comes in at our own client", (profile) => {
  for (const text of framesFor(profile)) expect(decodeReply(text)).toMatchObject({ ok: true });
});

test("text put together by hand is the same as JSON would write", () => {
  for (const profile of PROFILES) {
    for (const text of framesFor(profile)) expect(JSON.stringify(JSON.parse(text))).toBe(text);
  }
});

// "budget: values strings "USD:2.50"" for [P], "values numbers (also [S])" for [T]
test("a budget is exact digits, tagged for Python", () => {
  expect(budgetText("spec", BUDGET)).toBe('{"USD":2.5,"credits":10}');
  expect(budgetText("ts", BUDGET)).toBe('{"USD":2.5,"credits":10}');
  expect(budgetText("py", BUDGET)).toBe('{"USD":"USD:2.5","credits":"credits:10"}');
  const exact = new Map([["USD", amountOf("0.123456789012345678901234") ?? 0n]]);
  expect(budgetText("spec", exact)).toBe('{"USD":0.123456789012345678901234}');
});

test.each([
  ["cancelled", "spec", "job.error", "cancelled"],
  ["cancelled", "ts", "job.error", "cancelled"],
  ["cancelled", "py", "job.result", "cancelled"],
  ["timed_out", "spec", "job.error", "timed_out"],
  ["timed_out", "ts", "job.error", "timed_out"],
  ["timed_out", "py", "job.result", "timed_out"],
  ["error", "spec", "job.error", "error"],
  ["error", "ts", "job.error", "error"],
  ["error", "py", "job.error", "error"],
  ["success", "py", "job.result", "success"],
] as const)("%s is told to %s by %s %s", (...[status, profile, type, finalStatus]) => {
  const outcome = OUTCOMES.find((each) => each.status === status);
  const ending = outcome && endingOf(profile, outcome, AT);
  expect(ending?.type).toBe(type);
  const payload: unknown = JSON.parse(ending?.payload ?? "{}");
  expect(payload).toMatchObject({ final_status: finalStatus, completed_at: AT });
});

// "py/spec session.error; ts job.error with a fresh job id"
test("a refused submit is told as each client takes it", () => {
  const error = arcpError("DUPLICATE_KEY", "key k was used with other parameters");
  const head = { id: HEAD.id, sessionId: HEAD.sessionId, traceId: TRACE };
  const told = (profile: Profile): unknown =>
    JSON.parse(
      refusedSubmit({
        profile,
        head,
        freshJobId: JOB,
        error,
        at: AT,
        requestId: "msg_1",
        requestType: "job.submit",
      }),
    );
  for (const profile of ["spec", "py"] as const) {
    expect(told(profile)).toMatchObject({
      type: "session.error",
      payload: { details: { request_id: "msg_1", request_type: "job.submit" } },
    });
  }
  expect(told("ts")).toMatchObject({
    type: "job.error",
    job_id: JOB,
    trace_id: TRACE,
    payload: { final_status: "error", code: "DUPLICATE_KEY", retryable: false },
  });
});

test("agents are told with their versions only to those who agreed on versions", () => {
  const fields = {
    runtime: { name: "r", version: "1" },
    sessionId: "s",
    resumeToken: "t",
    resumeWindowSec: 600,
    acceptedAt: AT,
    agents: [{ name: "indexer", versions: ["1.0.0"], default: "1.0.0" }],
  };
  const agentsIn = (text: string) =>
    (JSON.parse(text) as { capabilities: { agents: unknown } }).capabilities.agents;
  expect(agentsIn(welcomePayload({ ...fields, features: [] }))).toEqual(["indexer"]);
  expect(agentsIn(welcomePayload({ ...fields, features: ["agent_versions"] }))).toEqual(
    fields.agents,
  );
});
