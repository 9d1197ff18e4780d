import { spawn } from "node:child_process";
import { once } from "node:events";
import { describe, expect, test } from "vitest";
import { sessionIdOf } from "../hooks/fact.ts";
import { newSession, type HookSession } from "../hooks/session.ts";
import { presenceAtEnd } from "./conversation.ts";
import { geminiDialect } from "./dialect.ts";
import { geminiWitness, presenceByCommand } from "./witness.ts";

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
    question: { kind: "permission", text: "Shell: touch a && sleep 9" },
  };

  test("was allowed when a process runs it, and not when any other does", () => {
    const presence = (...lines: string[]) => presenceByCommand(asking, () => lines);
    const own = "sh -c rollcall hook gemini";
    expect(presence(own, "node gemini.js", "git status")).toBeUndefined();
    expect(presence(own, "bash -c {\n touch a  && sleep 9\n }")).toEqual({
      state: "busy",
      sinceMs: 5,
    });
  });

  test.each(["node /usr/lib/tools/server.js", "sh -c /home/dev/tools/notify.sh", "npx mcp-ls"])(
    "was not allowed because its words are within %j",
    (line) => {
      const question = geminiDialect.questionOf("permission", { type: "exec", command: "ls" });
      expect(presenceByCommand({ ...asking, question }, () => [line])).toBeUndefined();
      const own = () => ["bash -c { ls; }"];
      expect(presenceByCommand({ ...asking, question }, own)?.state).toBe("busy");
    },
  );

  test.runIf(process.platform === "linux")(
    "is not run by what ran before it was asked",
    async () => {
      const child = spawn("sh", ["-c", "cat; true"]);
      await once(child, "spawn");
      const host = { pid: process.pid, start: "1" };
      const text = "Shell: cat; true";
      const asked = { ...asking, process: host, question: { kind: "permission", text } as const };
      const told = (activityMs: number) => {
        const witness = geminiWitness("s", () => undefined);
        return witness.presence({ ...asked, activityMs })?.state;
      };
      expect([told(Date.now() + 60_000), told(Date.now())]).toEqual([undefined, "busy"]);
      child.kill("SIGKILL");
      await once(child, "close");
    },
  );

  test("is found though the question was cut", () => {
    const long = `echo ${"x".repeat(1500)}`;
    const question = geminiDialect.questionOf("permission", { type: "exec", command: long });
    expect(question.text).toMatch(/…$/);
    const lines = () => [`bash -c ${long}`];
    expect(presenceByCommand({ ...asking, question }, lines)?.state).toBe("busy");
  });

  test("is not looked for where nothing is asked, or no command", () => {
    const linesOf = () => expect.fail("looked");
    const { question: _, ...working } = asking;
    expect(presenceByCommand(working, linesOf)).toBeUndefined();
    const writing: HookSession = { ...asking, question: { kind: "permission", text: "Edit: /a" } };
    expect(presenceByCommand(writing, linesOf)).toBeUndefined();
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

test("hooks of one conversation are one session, whatever session_id they bear", () => {
  const payload = { session_id: "another", transcript_path: "/home/dev/chats/session-1.jsonl" };
  for (const hook_event_name of ["SessionStart", "BeforeAgent", "Notification", "SessionEnd"]) {
    const told = geminiDialect.translate?.({ ...payload, hook_event_name });
    expect(sessionIdOf(told)).toBe("session-1");
  }
  expect(sessionIdOf(geminiDialect.translate?.({ session_id: "s", transcript_path: "" }))).toBe(
    "s",
  );
});
