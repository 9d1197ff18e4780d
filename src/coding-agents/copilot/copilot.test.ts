import { describe, expect, test } from "vitest";
import { factOf } from "../hooks/fact.ts";
import { copilotDialect } from "./dialect.ts";
import { presenceAtEnd } from "./events.ts";

const event = (type: string, data: object = {}, seconds = 10) =>
  JSON.stringify({ type, data, timestamp: `2026-11-17T06:51:${seconds}.000Z` });
const sinceMs = Date.UTC(2026, 10, 17, 6, 51, 10);

const COLOR = {
  message: "Which color?",
  requestedSchema: {
    type: "object",
    properties: { color: { type: "string", title: "Color", enum: ["Red", "Blue"] } },
  },
};

describe("the events that it writes down", () => {
  const began = event("assistant.turn_start", { turnId: "0" }, 10);
  const requested = event("permission.requested", {
    requestId: "r",
    permissionRequest: { kind: "shell", fullCommandText: "touch a && sleep 4" },
  });
  const write = event("permission.requested", {
    permissionRequest: { kind: "write", fileName: "/p/w.txt" },
  });
  const answered = event("permission.completed", { requestId: "r", result: { kind: "approved" } });
  const asked = event("tool.execution_start", {
    toolCallId: "c",
    toolName: "ask_user",
    arguments: COLOR,
  });

  test.each([
    [
      "asks",
      [began, requested],
      { state: "waiting", question: { text: "Run command: touch a && sleep 4" } },
    ],
    ["asks to write", [write], { state: "waiting", question: { text: "Edit file: /p/w.txt" } }],
    [
      "asks by a form",
      [began, asked],
      {
        state: "waiting",
        question: { kind: "choice", text: "Which color?", options: ["Red", "Blue"] },
      },
    ],
    ["was answered", [requested, answered], { state: "busy" }],
    [
      "was answered by a form",
      [asked, event("tool.execution_complete", { toolCallId: "c" })],
      { state: "busy" },
    ],
    [
      "still asks the other of two things",
      [asked, requested, answered],
      { state: "waiting", question: { text: "Which color?" } },
    ],
    [
      "still asks while another tool is over",
      [requested, event("tool.execution_complete", { toolCallId: "other" })],
      { state: "waiting" },
    ],
    [
      "was cancelled",
      [requested, event("permission.completed", { result: { kind: "cancelled" } })],
      { state: "idle" },
    ],
    ["was interrupted", [event("assistant.turn_end"), event("abort")], { state: "idle" }],
    ["was, told late", [event("abort"), event("assistant.turn_end")], { state: "idle" }],
    [
      "goes on when its subagent is done",
      [began, event("assistant.turn_end", { parentToolCallId: "c" })],
      { state: "busy" },
    ],
    [
      "failed",
      [event("session.error", { message: "400 no" })],
      { state: "failed", failure: "400 no" },
    ],
  ])("tell that it %s", (_, lines, presence) => {
    const others = [event("hook.end"), "", "{broken"];
    expect(presenceAtEnd([...lines, ...others])).toMatchObject({ ...presence, sinceMs });
  });

  test("tell nothing of a turn that came to its own end without a word", () => {
    const lines = [began, requested, answered, event("assistant.turn_end")];
    expect(presenceAtEnd(lines)).toBeUndefined();
    expect(presenceAtEnd([])).toBeUndefined();
  });

  test.each([
    ["ask", "I looked at it. Shall I?", { question: { kind: "text", text: "Shall I?" } }],
    ["ask nothing", "Done.", {}],
  ])("have the last words of an answer, which %s", (_, content, question) => {
    const said = event("assistant.message", { content });
    const ended = event("assistant.turn_end", {}, 11);
    const answer = { state: "answered", sinceMs, ...question };
    expect(presenceAtEnd([began, said, ended])).toEqual(answer);
    const ofSubagent = { content: "Shall we?", parentToolCallId: "c" };
    expect(presenceAtEnd([began, said, event("assistant.message", ofSubagent), ended])).toEqual(
      answer,
    );
    expect(presenceAtEnd([began, said, ended, event("assistant.turn_start", {}, 12)])).toEqual({
      state: "busy",
      sinceMs: sinceMs + 2000,
      isEvent: true,
    });
  });
});

describe("a payload", () => {
  const circumstances = { id: "1", order: 1, atMs: 1 };
  const factFor = (payload: object) =>
    factOf(copilotDialect.translate?.(payload), circumstances, copilotDialect);

  test("has its session under one name, whichever it came with", () => {
    for (const key of ["session_id", "sessionId"]) {
      expect(copilotDialect.translate?.({ [key]: "s" })).toMatchObject({ session_id: "s" });
    }
  });

  test("of a subagent is about the session that it works for", () => {
    const payload = { session_id: "sub", agent_id: "sub", parent_agent_id: "s" };
    expect(copilotDialect.translate?.(payload)).toMatchObject({ session_id: "s" });
  });

  test("of a tool that asks has the question of its form", () => {
    const payload = { hook_event_name: "PreToolUse", tool_name: "AskUserQuestion" };
    expect(factFor({ ...payload, tool_input: COLOR })?.question).toEqual({
      kind: "choice",
      text: "Which color?",
      options: ["Red", "Blue"],
      tool: "AskUserQuestion",
    });
  });
});
