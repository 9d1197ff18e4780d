import { describe, expect, test } from "vitest";
import { copilotDialect } from "./dialect.ts";
import { presenceAtEnd } from "./events.ts";

const event = (type: string, data: object = {}, seconds = 10) =>
  JSON.stringify({ type, data, timestamp: `2026-11-17T06:51:${seconds}.000Z` });
const sinceMs = Date.UTC(2026, 10, 17, 6, 51, 10);

describe("the events that it writes down", () => {
  const requested = event("permission.requested", {
    permissionRequest: { kind: "shell", fullCommandText: "touch a && sleep 4" },
  });

  test.each([
    [
      "asks",
      [requested],
      { state: "waiting", question: { text: "Run command: touch a && sleep 4" } },
    ],
    ["was answered", [requested, event("permission.completed")], { state: "busy" }],
    [
      "was cancelled",
      [requested, event("permission.completed", { result: { kind: "cancelled" } })],
      { state: "idle" },
    ],
    ["was interrupted", [event("assistant.turn_end"), event("abort")], { state: "idle" }],
    ["was, told late", [event("abort"), event("assistant.turn_end")], { state: "idle" }],
    [
      "failed",
      [event("session.error", { message: "400 no" })],
      { state: "failed", failure: "400 no" },
    ],
  ])("tell that it %s", (_, lines, presence) => {
    const others = [event("hook.end"), "", "{broken"];
    expect(presenceAtEnd([...lines, ...others])).toMatchObject({ ...presence, sinceMs });
  });

  test("tell nothing once the turn came to its own end", () => {
    const lines = [requested, event("permission.completed"), event("assistant.turn_end")];
    expect(presenceAtEnd(lines)).toBeUndefined();
    expect(presenceAtEnd([])).toBeUndefined();
  });
});

test("a payload has its session under one name, whichever it came with", () => {
  for (const key of ["session_id", "sessionId"]) {
    expect(copilotDialect.translate?.({ [key]: "s" })).toMatchObject({ session_id: "s" });
  }
});
