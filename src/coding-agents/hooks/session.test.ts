import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Fact } from "./fact.ts";
import type { PresenceState } from "./presence.ts";
import { extend, newHistory, presentOf } from "./history.ts";
import { fold, newSession, type HookSession } from "./session.ts";
import { facts, type Said } from "../../../test/support/coding-agents/fixture.ts";

function after(...said: readonly Said[]): HookSession {
  return facts(said).reduce(fold, newSession("claude-code", "s"));
}

const seen = (session: HookSession, presence: PresenceState) =>
  fold(session, { id: "9", order: 9e6, atMs: 9, event: "Presence", presence });

const state = (session: HookSession) => session.task?.state ?? (session.isOver ? "over" : "idle");

const BASH = { tool_name: "Bash", tool_input: { command: "npm test" } };

describe("what each event does", () => {
  // "SessionStart | running, no task; `source` clear resets goal, resume/compact keeps it"
  test.each([
    ["clear", undefined],
    ["resume", "fix it"],
    ["compact", "fix it"],
    ["startup", "fix it"],
  ])("a start by %s leaves no task, and the goal %j", (source, goal) => {
    const session = after(
      "SessionStart",
      ["UserPromptSubmit", { prompt: "fix it" }],
      ["SessionStart", { source }],
    );
    expect([state(session), session.goal?.summary]).toEqual(["idle", goal]);
  });

  // "UserPromptSubmit | working; summary = prompt, whitespace folded, 120 chars"
  // "first prompt seeds goal"
  test("a prompt is the summary, the first one the goal too", () => {
    const first = `fix \n\t the   tests ${"x".repeat(200)}`;
    const session = after(
      ["UserPromptSubmit", { prompt: first }],
      ["UserPromptSubmit", { prompt: "b" }],
    );
    expect(session.goal?.summary).toMatch(/^fix the tests x{105}…$/);
    expect(session.task).toMatchObject({ state: "working", summary: "b" });
  });

  // "PreToolUse | working, or input-required for a question tool"
  test.each([
    ["Bash", "working"],
    ["request_user_input", "input-required"],
    ["AskUserQuestion", "input-required"],
    ["ExitPlanMode", "input-required"],
    ["mcp__form__question", "input-required"],
    ["mcp__form__questions", "working"],
  ])("before the tool %s it is %s", (tool_name, wanted) => {
    expect(state(after(["PreToolUse", { tool_name }]))).toBe(wanted);
  });

  test("a permission is asked for, and work goes on when the tool was used", () => {
    const asked = after(["UserPromptSubmit", { prompt: "go" }], ["PermissionRequest", BASH]);
    expect(asked.task).toMatchObject({ state: "input-required", summary: "Bash: npm test" });
    const answered = fold(asked, { ...last(facts([["PostToolUse", BASH]])), order: 9, atMs: 9 });
    expect(answered.task).toMatchObject({ state: "working", summary: "go" });
    expect(answered.question).toBeUndefined();
  });

  test("a tool whose dialog opens late asks what it was heard to ask", () => {
    const color = { tool_name: "AskUserQuestion", tool_input: { question: "Which color?" } };
    const unopened = seen(after("UserPromptSubmit", ["PreToolUse", color]), "busy");
    expect(state(unopened)).toBe("working");
    expect(seen(unopened, "waiting").question?.text).toBe("Which color?");
    const answered = after("UserPromptSubmit", ["PreToolUse", color], ["PostToolUse", color]);
    expect(seen(seen(answered, "busy"), "waiting").question).toBeUndefined();
  });

  describe("a host that is busy for long after the end of a turn, and then idle,", () => {
    const asks: Said = ["Stop", { last_assistant_message: "Shall I commit?" }];
    const running = { background_tasks: [{ id: "1", status: "running" }] };

    test.each([
      [asks, "input-required", "Shall I commit?"],
      [["StopFailure", { last_assistant_message: "API Error: 400" }], "failed", "API Error: 400"],
      [["Stop", running], "submitted", "go"],
    ] as const)("has ended as its hook said: %j", (end, wanted, summary) => {
      const ended = after(["UserPromptSubmit", { prompt: "go" }], end);
      const busy = seen(ended, "busy");
      expect(state(busy)).toBe("working");
      const idle = seen(busy, "idle");
      expect(idle.task).toEqual(ended.task);
      expect([state(idle), idle.task?.summary]).toEqual([wanted, summary]);
      expect(idle.question).toEqual(ended.question);
      // The next turn ends in its own way.
      expect(state(seen(seen(idle, "busy"), "answered"))).toBe("idle");
    });

    test("has forgotten it when a hook told of more", () => {
      const busy = seen(after("UserPromptSubmit", asks), "busy");
      for (const event of ["UserPromptSubmit", "PreToolUse", "SessionStart"] as const) {
        expect(state(seen(fold(busy, last(facts([event]))), "idle"))).toBe("idle");
      }
    });

    test("no longer asks what a subagent asked", () => {
      const asked: Said = ["PermissionRequest", { ...BASH, agent_id: "a" }];
      const busy = seen(after("UserPromptSubmit", asked, "Stop"), "busy");
      expect(state(seen(busy, "idle"))).toBe("idle");
    });
  });

  test("the end of another call of the same tool does not answer a question", () => {
    const call = (command: string, more: object = {}) =>
      ({ tool_name: "Bash", tool_input: { command, ...more } }) as const;
    const asks = ["PermissionRequest", call("two")] as const;
    expect(after(asks, ["PostToolUse", call("one")]).question?.text).toBe("Bash: two");
    const described = call("two", { description: "which the request had no word of" });
    expect(after(asks, ["PostToolUse", described]).question).toBeUndefined();
  });

  test("the end of another tool call does not answer a question", () => {
    const session = after(["PermissionRequest", BASH], ["PostToolUse", { tool_name: "Read" }]);
    expect(state(session)).toBe("input-required");
  });

  describe("the start of another tool call", () => {
    const FETCH = { tool_name: "WebFetch", tool_input: { url: "http://a.example/x" } };
    const BESIDE: Said = ["PreToolUse", { tool_name: "Read", tool_input: { file_path: "/a" } }];
    const asks: readonly Said[] = [
      ["PreToolUse", FETCH],
      ["PermissionRequest", FETCH],
    ];
    const heardBy = (session: HookSession, ...said: readonly Said[]) =>
      facts(said).reduce(fold, session);

    test("does not answer a question, where a second source knows of the dialog", () => {
      const inTerminal = { ...newSession("codex", "s"), isWitnessed: true };
      for (const session of [newSession("claude-code", "s"), inTerminal]) {
        const asked = heardBy(session, ...asks, BESIDE);
        expect(asked.task).toMatchObject({
          state: "input-required",
          summary: "WebFetch: a.example",
        });
        expect(state(heardBy(asked, ["PostToolUse", FETCH]))).toBe("working");
        expect(state(seen(asked, "busy"))).toBe("working");
      }
    });

    test.each(["codex", "gemini", "qwen-code"] as const)(
      "says that the question is answered, where %s has hooks alone",
      (host) => expect(state(heardBy(newSession(host, "s"), ...asks, BESIDE))).toBe("working"),
    );

    test("ends the question with which an answer ended", () => {
      const asked = after("UserPromptSubmit", ["Stop", { last_assistant_message: "Shall I?" }]);
      expect(state(heardBy(asked, BESIDE))).toBe("working");
    });
  });

  // "Stop | input-required if the last assistant message ends with `?` (closing quotes allowed),
  // submitted if background tasks are active, else no task"
  test.each([
    [{ last_assistant_message: "Done. Shall I go on?" }, "input-required"],
    [{ last_assistant_message: "He asked “Why?”" }, "input-required"],
    [{ last_assistant_message: "Shall I?\n" }, "input-required"],
    [{ last_assistant_message: "Why? Because." }, "idle"],
    [{ background_tasks: [{ id: "1", status: "running" }] }, "submitted"],
    [{ background_tasks: [{ id: "1", status: "completed" }] }, "idle"],
    [{ background_tasks: [] }, "idle"],
    [
      { last_assistant_message: "So?", background_tasks: [{ status: "running" }] },
      "input-required",
    ],
  ])("at the end of a turn with %j it is %s", (payload, wanted) => {
    expect(state(after(["UserPromptSubmit", { prompt: "go" }], ["Stop", payload]))).toBe(wanted);
  });

  test("an error of the model ends the turn as a failure, with its reason", () => {
    const error = { error: "unknown", last_assistant_message: "API Error: 400" };
    const session = after(["UserPromptSubmit", { prompt: "go" }], ["StopFailure", error]);
    expect(session.task).toMatchObject({ state: "failed", summary: "API Error: 400" });
  });

  test("a turn that failed stays so when it is over, and the next one begins anew", () => {
    const failure: Said = ["StopFailure", { last_assistant_message: "API Error: 400" }];
    expect(state(after("UserPromptSubmit", failure, "Stop"))).toBe("failed");
    expect(state(after("UserPromptSubmit", failure, "Stop", "UserPromptSubmit", "Stop"))).toBe(
      "idle",
    );
  });

  test("an interruption ends the turn, and the question in it", () => {
    expect(state(after(["PermissionRequest", BASH], "Interrupt"))).toBe("idle");
  });

  test("a person is waited for, says a notification, unless the question is known", () => {
    const notice = { notification_type: "agent_needs_input", message: "It needs your choice" };
    expect(after("SessionStart", ["Notification", notice]).task?.summary).toBe(notice.message);
    const asked = after(["PermissionRequest", BASH], ["Notification", notice]);
    expect(asked.task?.summary).toBe("Bash: npm test");
    const idle = { notification_type: "idle_prompt", message: "It waits for your input" };
    expect(state(after("SessionStart", ["Notification", idle]))).toBe("idle");
  });

  test.each([
    "permission_prompt",
    "agent_needs_input",
    "elicitation_dialog",
    "elicitation_url_dialog",
    "worker_permission_prompt",
  ])("a %s waits for a person", (notification_type) => {
    expect(state(after("SessionStart", ["Notification", { notification_type }]))).toBe(
      "input-required",
    );
  });

  test("a wake-up is told by its summary", () => {
    const prompt = "<task-notification>\n<summary>Build done</summary>\n</task-notification>\nx";
    expect(after(["UserPromptSubmit", { prompt }]).task?.summary).toBe("Build done");
  });

  test("the end of the session is its end, whatever tool reports after it", () => {
    const said: readonly Said[] = [["UserPromptSubmit", { prompt: "go" }], "SessionEnd"];
    expect(state(after(...said))).toBe("over");
    expect(state(after(...said, ["PostToolUse", BASH], "Stop"))).toBe("over");
    expect(state(after(...said, ["SessionStart", { source: "resume" }]))).toBe("idle");
  });

  test("a host that is gone takes its session along, not one that goes on elsewhere", () => {
    const gone = { process: { pid: 7, start: "1" } };
    const [start, end] = facts(["SessionStart", "SessionEnd"]).map((fact) => ({
      ...fact,
      ...gone,
    }));
    const session = fold(newSession("codex", "s"), start ?? expect.fail());
    const ending: Fact = { ...(end ?? expect.fail()), event: "HostGone" };
    expect(fold(session, ending).isOver).toBe(true);
    expect(fold({ ...session, process: { pid: 7, start: "2" } }, ending).isOver).toBe(false);
  });

  test("it works where it began, though it changes its folder", () => {
    const session = after(
      ["SessionStart", { cwd: "/a" }],
      ["PreToolUse", { ...BASH, cwd: "/a/b" }],
    );
    expect(session.workspace).toBe("/a");
  });
});

describe("a subagent", () => {
  const SUB = { ...BASH, agent_id: "a" };
  const asked: readonly Said[] = [
    ["UserPromptSubmit", { prompt: "go" }],
    ["PermissionRequest", SUB],
  ];

  test("that asks makes the session ask, also when the turn is over", () => {
    expect(after(...asked).task).toMatchObject({
      state: "input-required",
      summary: "Bash: npm test",
    });
    expect(state(after(...asked, "Stop"))).toBe("input-required");
  });

  test.each(["PostToolUse", "PostToolUseFailure", "PermissionDenied", "SubagentStop"] as const)(
    "has its answer with its own %s, not with another's",
    (event) => {
      expect(state(after(...asked, [event, { ...SUB, agent_id: "b" }]))).toBe("input-required");
      expect(state(after(...asked, [event, SUB]))).toBe("working");
    },
  );

  test("is not answered by what the session does beside it", () => {
    const beside: readonly Said[] = [
      ["PreToolUse", BASH],
      ["PostToolUse", BASH],
    ];
    expect(state(after(...asked, ...beside))).toBe("input-required");
  });

  test("that works changes nothing but the time of the last activity", () => {
    const before = after("SessionStart", "Stop");
    const later = after("SessionStart", "Stop", ["PreToolUse", SUB], ["UserPromptSubmit", SUB]);
    expect(later).toEqual({ ...before, activityMs: later.activityMs, heard: later.heard });
    expect(later.activityMs).toBeGreaterThan(before.activityMs);
  });
});

function last<T>(list: readonly T[]): T {
  return list.at(-1) ?? expect.fail("nothing there");
}

describe("hooks that report late", () => {
  const turn: readonly Said[] = [
    "SessionStart",
    ["UserPromptSubmit", { prompt: "go" }],
    ["PreToolUse", BASH],
    ["PermissionRequest", BASH],
    ["PostToolUse", BASH],
    ["PreToolUse", { tool_name: "AskUserQuestion", tool_use_id: "q" }],
    ["PostToolUse", { tool_name: "AskUserQuestion", tool_use_id: "q" }],
    ["Stop", { last_assistant_message: "Done. More?" }],
  ];

  test("a PostToolUse that comes after its Stop changes nothing", () => {
    const stopped = after(...turn);
    expect(state(stopped)).toBe("input-required");
    expect(state(fold(stopped, { ...last(facts([["PostToolUse", BASH]])), order: 99 }))).toBe(
      "input-required",
    );
  });

  test("in whatever order and in whatever groups they are heard, the session is the same", () => {
    const all = facts(turn);
    const wanted = after(...turn);
    const shuffled = fc.shuffledSubarray([...all], { minLength: all.length });
    fc.assert(
      fc.property(shuffled, fc.integer({ min: 1, max: 8 }), (heard, size) => {
        let history = newHistory(newSession("claude-code", "s"));
        for (let i = 0; i < heard.length; i += size) {
          history = extend(history, heard.slice(i, i + size));
        }
        expect(presentOf(history)).toEqual(wanted);
      }),
    );
  });

  test("what was heard twice counts once, and a history does not grow for ever", () => {
    const many = facts(Array.from({ length: 700 }, (): Said => ["PreToolUse", BASH]));
    let history = newHistory(newSession("claude-code", "s"));
    for (const fact of [...many, ...many]) history = extend(history, [fact]);
    expect(history.recent.length).toBeLessThanOrEqual(512);
    expect(state(presentOf(history))).toBe("working");
  });

  test("after the machine was started anew, what comes is new", () => {
    const before = facts(turn).map((fact) => ({ ...fact, order: fact.order + 1e12 }));
    const [fact] = facts([["UserPromptSubmit", { prompt: "again" }]]);
    const again = { ...(fact ?? expect.fail()), id: "later", atMs: 1_800_000_000_000 };
    const history = extend(extend(newHistory(newSession("codex", "s")), before), [again]);
    expect(presentOf(history).task).toMatchObject({ state: "working", summary: "again" });
  });
});
