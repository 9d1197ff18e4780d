import { describe, expect, test } from "vitest";
import { metaOf, proxyReport, taskOf, type SessionPresence } from "./presence.ts";
import { AT, PERMISSION, record, WAITING } from "../../../../test/support/acp-proxy/fixture.ts";

function presence(changes: Parameters<typeof record>[0] = {}): SessionPresence {
  return {
    name: "gemini",
    version: "1",
    client: { name: "zed", title: "Zed", version: null },
    sessionId: "S",
    workspace: "/srv/app",
    goal: "Fix it",
    unreadFrames: 0,
    record: record({ sessionId: null, ...changes }),
    atMs: 1_000,
  };
}

const IDENTITY = { alias: "acp:a", agentId: "a", process: { pid: 7, startedAtMs: 5 } };

describe("the task of a status file", () => {
  test.each([
    [{}, { state: "working", summary: "Read notes.txt" }],
    [{ currentTask: "Step 2/5: Look" }, { state: "working", summary: "Step 2/5: Look" }],
    [WAITING, { state: "input-required", summary: "Write result.txt" }],
    [
      { ...WAITING, questions: [{ ...PERMISSION, kind: "auth", text: "Sign in required" }] },
      { state: "auth-required", summary: "Sign in required" },
    ],
    [
      { state: "waiting", status: "waiting", message: null, questions: [] },
      { state: "input-required", summary: "Input needed" },
    ],
    [
      { state: "idle", status: "idle", error: "no credit" },
      { state: "failed", summary: "no credit" },
    ],
    [{ state: "idle", status: "idle", message: "Done" }, undefined],
  ] as const)("%j is %j", (changes, task) => {
    expect(taskOf(presence(changes))).toEqual(task);
  });
});

test("a file says the question with its options, and what no field of the format has", () => {
  expect(metaOf(presence(WAITING))).toMatchObject({
    activity: "waiting",
    question: { kind: "permission", text: "Write result.txt", options: ["Allow once", "Reject"] },
    acp: { session_id: "S", client: "Zed", state: "waiting" },
  });
});

describe("a report to the fleet", () => {
  test("has the axes, the question, and the rule of each", () => {
    const report = proxyReport(presence({ ...WAITING, currentTask: "Step 1/2: Look" }), IDENTITY);
    expect(report).toMatchObject({
      alias: "acp:a",
      agentId: "a",
      order: 1_000,
      facts: {
        name: "gemini",
        workspace: "/srv/app",
        goal: "Fix it",
        process: { pid: 7 },
        liveness: { value: "alive" },
        activity: { value: "waiting", task: "Step 1/2: Look", rule: "derived from its ACP frames" },
        question: {
          value: {
            kind: "permission",
            text: "Write result.txt",
            options: ["Allow once", "Reject"],
            sinceMs: Date.parse(AT),
          },
          rule: "session/request_permission is open",
        },
      },
    });
  });

  test("says so when frames went by unread, and the file says how many", () => {
    const unread = { ...presence(), unreadFrames: 2 };
    const { activity } = proxyReport(unread, IDENTITY).facts;
    expect(activity?.rule).toBe("derived from its ACP frames; some of its frames were not read");
    expect(metaOf(unread)).toMatchObject({ acp: { unread_frames: 2 } });
  });

  test.each([
    ["end_turn", "success"],
    ["cancelled", "cancelled"],
    ["refusal", "rejected"],
    ["max_tokens", "failed"],
    ["something_new", "success"],
  ])("a turn that ended with %s is a %s", (stopReason, outcome) => {
    const { facts } = proxyReport(
      presence({ state: "idle", status: "idle", stopReason }),
      IDENTITY,
    );
    expect(facts.outcome?.value).toBe(outcome);
    expect(facts.question).toBeUndefined();
  });

  test("a turn that ended in an error failed, with what was wrong", () => {
    const ended = {
      state: "idle",
      status: "idle",
      stopReason: "error",
      error: "no credit",
    } as const;
    const { facts } = proxyReport(presence(ended), IDENTITY);
    expect(facts.outcome).toMatchObject({ value: "failed", text: "no credit" });
  });
});
