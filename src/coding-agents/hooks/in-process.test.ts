import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { readStatusDir } from "../../wires/files/read.ts";
import { RollcallPlugin, type OpenCodeHooks } from "../opencode/plugin.ts";
import { rollcallExtension, type PiContext } from "../pi/extension.ts";

let home = "";

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "rollcall-host-"));
  vi.stubEnv("XDG_STATE_HOME", home);
  vi.stubEnv("AGENT_STATUS_DIR", join(home, "status"));
  vi.stubEnv("ROLLCALL_AGENT_ID", "me");
  vi.stubEnv("TMUX", "");
});

afterEach(() => rmSync(home, { recursive: true, force: true }));

function statuses() {
  return readStatusDir(join(home, "status")).map((reading) =>
    reading.kind === "status" ? reading.status : expect.fail(reading.problems.join()),
  );
}

/** "working: fix it" of the one agent that is there, once it is so. */
async function shows(wanted: string): Promise<void> {
  await vi.waitFor(() => {
    const told = statuses().map(({ task }) =>
      task?.state ? [task.state, task.summary].filter(Boolean).join(": ") : "idle",
    );
    expect(told.join(" | ") || "nobody").toBe(wanted);
  });
}

describe("OpenCode", () => {
  let hooks: OpenCodeHooks;

  beforeEach(async () => {
    hooks = await RollcallPlugin({ directory: "/project" });
  });

  const hear = (type: string, properties: object) => hooks.event({ event: { type, properties } });
  const hearOf = (type: string, more: object = {}) => hear(type, { sessionID: "ses_1", ...more });
  const create = (info: object) => hear("session.created", { info: { id: "ses_1", ...info } });
  const prompt = (text: string) =>
    hooks["chat.message"](
      { sessionID: "ses_1", model: { providerID: "anthropic", modelID: "opus" } },
      {
        parts: [
          { type: "text", text },
          { type: "file", url: "x" },
        ],
      },
    );

  afterEach(() => hear("session.deleted", { info: { id: "ses_1" } }));

  test("a session works, rests, and is gone when it is deleted", async () => {
    await create({ directory: "/project/a" });
    await shows("working");
    await prompt("fix  the\ntests");
    await shows("working: fix the tests");
    await hearOf("session.idle");
    await shows("idle");
    expect(statuses()[0]).toMatchObject({
      agent_id: "opencode-ses_1",
      agent_name: "opencode",
      runtime: { pid: process.pid, workspace: "/project/a" },
      goal: { summary: "fix the tests" },
      x_meta: {
        opencode: { session_id: "ses_1", model: "anthropic/opus" },
        rollcall_agent_id: "me",
      },
    });
    await hooks["tool.execute.before"]({ sessionID: "ses_1" });
    await shows("working: fix the tests");
    await hear("session.deleted", { info: { id: "ses_1" } });
    await shows("nobody");
  });

  test("busy and retry are work, idle is not", async () => {
    await create({});
    for (const [type, state] of [
      ["idle", "idle"],
      ["busy", "working"],
      ["idle", "idle"],
      ["retry", "working"],
    ] as const) {
      await hearOf("session.status", { status: { type } });
      await shows(state);
    }
  });

  test("what it asks is shown until it is answered", async () => {
    await create({});
    await prompt("go");
    const questions = [
      { question: "Which?", header: "W", options: [{ label: "a" }, { label: "b" }] },
    ];
    await hearOf("question.asked", { id: "q1", questions });
    await shows("input-required: Which?");
    expect(statuses()[0]?.x_meta?.["rollcall"]).toMatchObject({
      question: { kind: "choice", text: "Which?", options: ["a", "b"] },
    });
    await hearOf("permission.asked", { id: "p1", permission: "bash", patterns: ["git push *"] });
    await shows("input-required: bash: git push *");
    await hearOf("permission.replied", { requestID: "p1", reply: "once" });
    await shows("input-required: Which?");
    await hearOf("question.replied", { requestID: "q1", answers: [["a"]] });
    await shows("working: go");
    expect(statuses()[0]?.x_meta?.["rollcall"]).not.toHaveProperty("question");
  });

  test("with open todos it has something left to do when it rests", async () => {
    await create({});
    await prompt("go");
    await hearOf("todo.updated", { todos: [{ content: "x", status: "in_progress" }] });
    await shows("working: go");
    await hearOf("session.idle");
    await shows("submitted: go");
    await hearOf("todo.updated", { todos: [{ content: "x", status: "completed" }] });
    await shows("idle");
  });

  test("a failure stays until it works again; being stopped by a person is none", async () => {
    await create({});
    await hearOf("session.error", { error: { name: "APIError", data: { message: "overloaded" } } });
    await hearOf("session.idle");
    await shows("failed: overloaded");
    await prompt("again");
    await shows("working: again");
    await hearOf("session.error", { error: { name: "MessageAbortedError" } });
    await shows("idle");
  });

  test("subagents are not shown", async () => {
    await hear("session.created", { info: { id: "ses_2", parentID: "ses_1" } });
    await hooks["tool.execute.before"]({ sessionID: "ses_2" });
    await hear("question.asked", { sessionID: "ses_2", id: "q", questions: [] });
    await create({});
    await shows("working");
  });

  test("nothing that OpenCode may send one day makes it fail", async () => {
    for (const properties of [
      null,
      1,
      [],
      {},
      { sessionID: 7 },
      { info: null },
      { sessionID: "" },
    ]) {
      for (const type of ["session.created", "question.asked", "todo.updated", "else"]) {
        await hooks.event({ event: { type, properties } });
      }
    }
    expect(statuses()).toEqual([]);
    expect(readdirSync(home)).toEqual([]);
  });
});

describe("Pi", () => {
  const context: PiContext = {
    cwd: "/project",
    model: { provider: "openai", id: "gpt" },
    sessionManager: { getSessionId: () => "p1" },
  };

  function pi() {
    const handlers = new Map<string, (event: unknown, context: PiContext) => unknown>();
    rollcallExtension({ on: (event, handler) => handlers.set(event, handler) });
    return async (event: string, payload: unknown = {}) => handlers.get(event)?.(payload, context);
  }

  test("a session is shown from its start to its shutdown", async () => {
    const fire = pi();
    await fire("session_start", { reason: "startup" });
    await shows("idle");
    await fire("before_agent_start", { prompt: "fix the tests" });
    await shows("working: fix the tests");
    await fire("tool_execution_start", { toolName: "bash" });
    await fire("ui_prompt_start", { kind: "confirm", title: "Allow rm?" });
    await shows("input-required: Allow rm?");
    await fire("ui_prompt_end");
    await shows("working: fix the tests");
    expect(statuses()[0]).toMatchObject({
      agent_id: "pi-p1",
      goal: { summary: "fix the tests" },
      x_meta: { pi: { session_id: "p1", model: "openai/gpt" }, rollcall_agent_id: "me" },
    });
    await fire("agent_end", { messages: [] });
    await shows("idle");
    await fire("session_shutdown", { reason: "quit" });
    await shows("nobody");
  });

  test("another session takes the place of the one before", async () => {
    const fire = pi();
    await fire("session_start");
    await fire("session_start");
    await shows("idle");
    await fire("session_shutdown");
    await fire("session_shutdown");
    await shows("nobody");
  });

  test("a Pi that another agent runs is not shown", async () => {
    vi.stubEnv("PI_SUBAGENT", "1");
    const fire = pi();
    await fire("session_start");
    await fire("before_agent_start", { prompt: "x" });
    expect(statuses()).toEqual([]);
  });
});
