import { describe, expect, test } from "vitest";
import { presenceAtEnd } from "./conversation.ts";
import { readProcess } from "./presence.ts";

const RECORD = {
  pid: 9152,
  sessionId: "s",
  procStart: "291009",
  version: "2.1.197",
  status: "busy",
  updatedAt: 2,
  statusUpdatedAt: 1,
};

const read = (change: object) => readProcess(JSON.stringify({ ...RECORD, ...change }), "s");

describe("the file of a process", () => {
  test.each([
    ["busy", { state: "busy", sinceMs: 1 }],
    ["idle", { state: "idle", sinceMs: 1 }],
    [
      "waiting",
      { state: "waiting", sinceMs: 1, question: { kind: "text", text: "it waits for you" } },
    ],
  ])("that says %s", (status, presence) => {
    expect(read({ status })).toEqual({
      start: "291009",
      version: "2.1.197",
      isKnown: true,
      presence,
    });
  });

  test("says for what it waits", () => {
    const { presence } = read({ status: "waiting", waitingFor: "dialog open" }) ?? {};
    expect(presence?.question?.text).toBe("it waits: dialog open");
  });

  test("names another session when it went on to that one", () => {
    expect(read({ sessionId: "other" })?.presence).toEqual({ state: "gone", sinceMs: 2 });
  });

  test("with a status of a later version says that it is not known", () => {
    expect(read({ status: "dreaming" })).toMatchObject({ isKnown: false, version: "2.1.197" });
    expect(read({ status: "dreaming" })?.presence).toBeUndefined();
  });

  test.each(["", "{", "[]", '{"sessionId":7}'])(
    "that is no such file (%j) says nothing",
    (text) => {
      expect(readProcess(text, "s")).toBeUndefined();
    },
  );

  test("says nothing of its state while it starts", () => {
    expect(read({ status: undefined })?.presence).toBeUndefined();
  });
});

describe("the end of a conversation", () => {
  const at = "2026-01-01T12:00:00.000Z";
  const sinceMs = Date.parse(at);
  const user = (content: unknown) => ({ type: "user", timestamp: at, message: { content } });
  const end = (...entries: readonly object[]) =>
    presenceAtEnd(["cut off", ...entries.map((entry) => JSON.stringify(entry)), ""]);

  test.each(["[Request interrupted by user]", "[Request interrupted by user for tool use]"])(
    "with %j is the end of the turn",
    (text) => {
      expect(end(user([{ type: "text", text }]))).toEqual({
        state: "idle",
        sinceMs,
        isEvent: true,
      });
    },
  );

  test("with the result of a tool is that the question about it was answered", () => {
    const result = user([{ type: "tool_result", tool_use_id: "t" }]);
    expect(end(result)).toMatchObject({ state: "busy" });
    expect(end({ ...result, isSidechain: true })).toBeUndefined();
  });

  test("with an error of the model is a failure, with its reason", () => {
    const content = [{ type: "text", text: "API Error: 400" }];
    const entry = {
      type: "assistant",
      timestamp: at,
      isApiErrorMessage: true,
      message: { content },
    };
    expect(end(entry)).toMatchObject({ state: "failed", failure: "API Error: 400" });
  });

  test("with nothing of the kind says nothing", () => {
    expect(end(user("hello"), { type: "system", timestamp: at })).toBeUndefined();
  });
});
