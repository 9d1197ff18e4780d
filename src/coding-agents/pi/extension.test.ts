import { beforeEach, describe, expect, test, vi } from "vitest";
import {
  asked,
  shows,
  statuses,
  useStage,
} from "../../../test/support/coding-agents/in-process.ts";
import type { PiUi } from "./dialogs.ts";
import { rollcallExtension, type PiContext } from "./extension.ts";

const stage = useStage();
let ui: PiUi;
/** Answers the dialog that is open. */
let answer: (value: unknown) => void;

beforeEach(() => {
  const open = () => new Promise((resolve) => (answer = resolve));
  ui = { select: open, confirm: open, input: open, custom: open };
});

function load(more: Partial<PiContext> = {}) {
  const handlers = new Map<string, (event: unknown, context: PiContext) => unknown>();
  rollcallExtension({ on: (event, handler) => handlers.set(event, handler) });
  const context: PiContext = {
    cwd: "/project",
    ui,
    model: { provider: "openai", id: "gpt" },
    sessionManager: { getSessionId: () => "p1" },
    ...more,
  };
  return async (event: string, payload: unknown = {}) => handlers.get(event)?.(payload, context);
}

const failed = { messages: [{ role: "assistant", stopReason: "error", errorMessage: "500 no" }] };

test("a session is shown from its start to its shutdown", async () => {
  const fire = load();
  await fire("session_start", { reason: "startup" });
  await shows(stage, "idle");
  await fire("before_agent_start", { prompt: "fix the tests" });
  await shows(stage, "working: fix the tests");
  await fire("tool_execution_start", { toolName: "bash" });
  expect(statuses(stage)[0]).toMatchObject({
    agent_id: "pi-p1",
    goal: { summary: "fix the tests" },
    x_meta: { pi: { session_id: "p1", model: "openai/gpt" }, rollcall_agent_id: "me" },
  });
  await fire("agent_end", { messages: [] });
  await shows(stage, "idle");
  await fire("session_shutdown", { reason: "quit" });
  await shows(stage, "nobody");
});

test("it works until it is settled, also while it tries again", async () => {
  const fire = load();
  await fire("session_start");
  await fire("before_agent_start", { prompt: "go" });
  await fire("turn_end", { outcome: "error" });
  await fire("agent_end", failed);
  await shows(stage, "working: go");
  await fire("agent_start");
  await fire("agent_end", { messages: [{ role: "assistant", stopReason: "stop" }] });
  await shows(stage, "working: go");
  await fire("agent_settled");
  await shows(stage, "idle");
  await fire("session_shutdown");
});

test("the last words of an answer ask when they are a question, until the next turn", async () => {
  const fire = load();
  await fire("session_start");
  await fire("before_agent_start", { prompt: "go" });
  const content = [
    { type: "thinking", thinking: "What now?" },
    { type: "text", text: "I looked at it. Shall I go on?" },
  ];
  const end = (stopReason: string) =>
    fire("agent_end", { messages: [{ role: "assistant", stopReason, content }] });
  await end("stop");
  await shows(stage, "input-required: Shall I go on?");
  await fire("before_agent_start", { prompt: "yes" });
  await fire("agent_start");
  await shows(stage, "working: yes");
  await end("aborted");
  await shows(stage, "idle");
  await fire("session_shutdown");
});

test("an error is how the turn ended, until the next one", async () => {
  const fire = load();
  await fire("session_start");
  await fire("before_agent_start", { prompt: "go" });
  await fire("agent_end", failed);
  await fire("agent_settled");
  await shows(stage, "failed: 500 no");
  await fire("before_agent_start", { prompt: "go" });
  await fire("agent_end", { messages: [{ role: "assistant", stopReason: "aborted" }] });
  await fire("agent_settled");
  await shows(stage, "idle");
  await fire("session_shutdown");
});

test("an error of the last answer is told, also where the agent's end is silent", async () => {
  const fire = load();
  await fire("session_start");
  await fire("before_agent_start", { prompt: "go" });
  const message = { role: "assistant", stopReason: "error", errorMessage: "401 no key" };
  await fire("turn_end", { outcome: "error", message });
  await fire("agent_end");
  await fire("agent_settled");
  await shows(stage, "failed: 401 no key");
  await fire("before_agent_start", { prompt: "go" });
  await fire("turn_end", { outcome: "error" });
  await fire("agent_end");
  await fire("agent_start");
  await fire("turn_end", { outcome: "completed" });
  await fire("agent_end");
  await fire("agent_settled");
  await shows(stage, "idle");
  await fire("session_shutdown");
});

test("where nothing tells that it is settled, it works anew when it tries again", async () => {
  const fire = load();
  await fire("session_start");
  await fire("before_agent_start", { prompt: "go" });
  await fire("turn_end", {});
  await fire("agent_end", failed);
  await shows(stage, "failed: 500 no");
  await fire("agent_start");
  await shows(stage, "working: go");
  await fire("session_shutdown");
});

describe("a dialog of any extension", () => {
  test("is a question, with its options, until it closes", async () => {
    const fire = load();
    await fire("session_start");
    await fire("before_agent_start", { prompt: "go" });
    const chosen = ui.select?.("Allow rm?", ["Yes", "No"]);
    await fire("ui_prompt_start", { kind: "select", title: "Allow rm?" });
    await shows(stage, "input-required: Allow rm?");
    expect(asked(stage)).toMatchObject({ kind: "choice", options: ["Yes", "No"] });
    answer("No");
    await expect(chosen).resolves.toBe("No");
    await shows(stage, "working: go");
    const confirmed = ui.confirm?.("Sure?", "It cannot be undone");
    await shows(stage, "input-required: Sure?: It cannot be undone");
    expect(asked(stage)).toMatchObject({ kind: "permission", options: ["yes", "no"] });
    answer(false);
    await confirmed;
    await fire("agent_end");
    await shows(stage, "idle");
    await fire("session_shutdown");
  });

  test("that fails to open is none, and its error is the extension's", async () => {
    ui.input = () => {
      throw new Error("no terminal");
    };
    const fire = load();
    await fire("session_start");
    expect(() => ui.input?.("Name?")).toThrow("no terminal");
    await shows(stage, "idle");
    await fire("session_shutdown");
  });

  test("is left alone after the shutdown, and in a Pi without a person", async () => {
    const { select } = ui;
    const fire = load();
    await fire("session_start");
    expect(ui.select).not.toBe(select);
    await fire("session_shutdown");
    expect(ui.select).toBe(select);
    const printing = load({ hasUI: false });
    await printing("session_start");
    expect(ui.select).toBe(select);
    await printing("session_shutdown");
  });

  test("is heard of by its event where it cannot be observed", async () => {
    const fire = load({ ui: {} });
    await fire("session_start");
    await fire("before_agent_start", { prompt: "go" });
    await fire("ui_prompt_start", { kind: "confirm", title: "Allow rm?" });
    await shows(stage, "input-required: Allow rm?");
    await fire("ui_prompt_end");
    await shows(stage, "working: go");
    await fire("session_shutdown");
  });
});

test("another session takes the place of the one before", async () => {
  const fire = load();
  await fire("session_start");
  await fire("session_start");
  await shows(stage, "idle");
  await fire("session_shutdown");
  await fire("session_shutdown");
  await shows(stage, "nobody");
});

test("of two copies that Pi loads, one shows the session", async () => {
  const copies = [load(), load()];
  const { select } = ui;
  const fire = async (event: string) => {
    for (const copy of copies) await copy(event);
  };
  await fire("session_start");
  await fire("agent_start");
  await shows(stage, "working");
  await fire("session_shutdown");
  await shows(stage, "nobody");
  expect(ui.select).toBe(select);
});

test("a Pi that another agent runs is not shown", async () => {
  vi.stubEnv("PI_SUBAGENT", "1");
  const fire = load();
  await fire("session_start");
  await fire("before_agent_start", { prompt: "x" });
  expect(statuses(stage)).toEqual([]);
});
