import { describe, expect, test } from "vitest";
import { endOfLastTurn } from "./conversation.ts";
import { presenceOf, stateOf, type Thread } from "./threads.ts";

describe("the state of a thread", () => {
  test.each([
    [{ type: "active", activeFlags: [] }, "busy"],
    [{ type: "active", activeFlags: ["waitingOnApproval"] }, "waiting"],
    [{ type: "active", activeFlags: ["waitingOnUserInput"] }, "waiting"],
    [{ type: "idle" }, "idle"],
    [{ type: "systemError" }, "failed"],
    [{ type: "notLoaded" }, "closed"],
    [{ type: "dreaming" }, "unknown"],
    [undefined, "unknown"],
  ])("%j is %s", (status, state) => {
    expect(stateOf(status)).toBe(state);
  });
});

describe("a session", () => {
  const thread = (state: Thread["state"], sinceMs: number, parent?: string): Thread => ({
    state,
    sinceMs,
    ...(parent !== undefined && { parent }),
  });
  const presence = (own: Thread, child?: Thread) =>
    presenceOf(new Map([["s", own], ...(child ? [["c", child] as const] : [])]), "s");

  test.each([
    [thread("idle", 1), thread("waiting", 2, "s"), "waiting"],
    [thread("idle", 1), thread("busy", 2, "s"), "busy"],
    [thread("idle", 1), thread("idle", 2, "s"), "idle"],
    [thread("busy", 1), thread("waiting", 2, "another"), "busy"],
    [thread("failed", 1), thread("idle", 2, "s"), "failed"],
  ])("%j with the subagent %j is %s", (own, child, state) => {
    expect(presence(own, child)?.state).toBe(state);
  });

  test("whose thread was closed is gone, and one that is not known is not judged", () => {
    expect(presence(thread("closed", 3))).toEqual({ state: "gone", sinceMs: 3 });
    expect(presenceOf(new Map(), "s")).toBeUndefined();
  });
});

describe("the end of a conversation", () => {
  const at = "2026-01-01T12:00:00.000Z";
  const end = (...payloads: readonly object[]) =>
    endOfLastTurn(payloads.map((payload) => JSON.stringify({ timestamp: at, payload })));

  test("tells how the last turn ended, and nothing while one goes on", () => {
    const sinceMs = Date.parse(at);
    const ended = { state: "idle", sinceMs, isEvent: true };
    expect(end({ type: "task_started" }, { type: "task_complete", error: null })).toEqual(ended);
    expect(end({ type: "task_started" }, { type: "turn_aborted" })).toEqual(ended);
    expect(end({ type: "task_complete" }, { type: "task_started" })).toBeUndefined();
  });

  test.each([
    ['{"error":{"message":"no such model"}}', "no such model"],
    ["stream closed", "stream closed"],
  ])("with the error %j has the reason %j", (message, failure) => {
    const complete = { type: "task_complete", error: { message } };
    expect(end(complete)).toMatchObject({ state: "failed", failure });
  });
});
