import { describe, expect, test } from "vitest";
import { newSession, type HookSession } from "../hooks/session.ts";
import { presenceAtEnd } from "./conversation.ts";
import { geminiDialect } from "./dialect.ts";
import { Commands } from "./witness.ts";

describe("its conversation", () => {
  const entry = (seconds: number, type: string, content: unknown) =>
    JSON.stringify({ timestamp: `2026-11-17T06:29:${seconds}.355Z`, type, content });
  const asked = entry(32, "user", [{ text: "touch a" }]);
  const cancelled = entry(38, "info", "Request cancelled.");
  const rewritten = entry(38, "gemini", [{ text: "hello" }]);
  const failure = '[API Error: {"error":{"code":400,"message":"no such model"}}]';
  const atMs = Date.UTC(2026, 10, 17, 6, 29, 38, 355);

  test("tells that the person cancelled, also when the history is written anew behind it", () => {
    const lines = [asked, cancelled, rewritten, '{"$set":{"messages":[]}}', ""];
    expect(presenceAtEnd(lines)).toEqual({ state: "idle", sinceMs: atMs });
  });

  test("tells why the model failed", () => {
    const lines = [asked, entry(38, "error", failure), entry(38, "info", "This request failed.")];
    expect(presenceAtEnd(lines)).toMatchObject({ state: "failed", failure: "no such model" });
  });

  test("tells nothing of the turn that follows", () => {
    expect(presenceAtEnd([cancelled, entry(44, "user", "go on")])).toBeUndefined();
    expect(presenceAtEnd([asked, "{broken", "null"])).toBeUndefined();
  });
});

describe("a command that was asked for", () => {
  const asking: HookSession = {
    ...newSession("gemini", "s"),
    isOver: false,
    activityMs: 5,
    process: { pid: 7, start: "1" },
    task: { state: "input-required", sinceMs: 5 },
    question: { kind: "permission", text: "Shell: sleep 9" },
  };

  test("was allowed when a process is there that was not", () => {
    let programs = [1];
    const commands = new Commands(() => programs);
    expect(commands.presence(asking)).toBeUndefined();
    expect(commands.presence(asking)).toBeUndefined();
    programs = [1, 2];
    expect(commands.presence(asking)).toEqual({ state: "busy", sinceMs: 5 });
    const next: HookSession = { ...asking, task: { state: "input-required", sinceMs: 6 } };
    expect(commands.presence(next)).toBeUndefined();
  });

  test("is not looked for where nothing is asked, or a question", () => {
    const commands = new Commands(() => expect.fail("looked"));
    const { question: _, ...working } = asking;
    expect(commands.presence(working)).toBeUndefined();
    const choosing: HookSession = { ...asking, question: { kind: "choice", text: "Which?" } };
    expect(commands.presence(choosing)).toBeUndefined();
  });
});

describe("a permission", () => {
  test.each([
    [{ type: "exec", title: "Confirm Shell Command", command: "ls" }, "Shell: ls"],
    [{ type: "edit", title: "Confirm Write: a.txt", filePath: "/p/a.txt" }, "Edit: /p/a.txt"],
    [{ type: "mcp", title: "Confirm MCP Tool" }, "MCP: MCP Tool"],
    [{}, "tool: it needs permission"],
  ])("of %j is %s", (details, text) => {
    expect(geminiDialect.questionOf("permission", details)).toMatchObject({ text });
  });
});
