import { readdirSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import {
  asked,
  shows,
  statuses,
  useStage,
} from "../../../test/support/coding-agents/in-process.ts";
import { surprises } from "../hooks/surprises.ts";
import { RollcallPlugin, type OpenCodeHooks } from "./plugin.ts";

const stage = useStage();
let hooks: OpenCodeHooks;

beforeEach(async () => {
  hooks = await RollcallPlugin({ directory: "/project" });
});

afterEach(() => hear("session.deleted", { info: { id: "ses_1" } }));

const hear = (type: string, properties: object, id?: string) =>
  hooks.event({ event: { type, properties, ...(id !== undefined && { id }) } });
const hearOf = (type: string, more: object = {}) => hear(type, { sessionID: "ses_1", ...more });
const create = (info: object) => hear("session.created", { info: { id: "ses_1", ...info } });
const createSubagent = () => create({ id: "ses_2", parentID: "ses_1" });
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
const ask = (id: string, more: object = {}) =>
  hearOf("permission.asked", { id, permission: "bash", patterns: ["ls"], ...more });

test("a session works, rests, and is gone when it is deleted", async () => {
  await create({ directory: "/project/a" });
  await shows(stage, "idle");
  await prompt("fix  the\ntests");
  await shows(stage, "working: fix the tests");
  await hearOf("session.idle");
  await shows(stage, "idle");
  expect(statuses(stage)[0]).toMatchObject({
    agent_id: "opencode-ses_1",
    agent_name: "opencode",
    runtime: { pid: process.pid, workspace: "/project/a" },
    goal: { summary: "fix the tests" },
    x_meta: {
      opencode: { session_id: "ses_1", model: "anthropic/opus" },
      rollcall_agent_id: "me",
    },
  });
  await hooks["tool.execute.before"]({ sessionID: "ses_1", callID: "c1" });
  await shows(stage, "working: fix the tests");
  await hear("session.deleted", { info: { id: "ses_1" } });
  await shows(stage, "nobody");
});

test("busy and retry are work, idle is not", async () => {
  await create({});
  for (const [type, state] of [
    ["busy", "working"],
    ["idle", "idle"],
    ["retry", "working"],
  ] as const) {
    await hearOf("session.status", { status: { type } });
    await shows(stage, state);
  }
});

test("with open todos it has something left to do when it rests", async () => {
  await create({});
  await prompt("go");
  await hearOf("todo.updated", { todos: [{ content: "x", status: "in_progress" }] });
  await shows(stage, "working: go");
  await hearOf("session.idle");
  await shows(stage, "submitted: go");
  await hearOf("todo.updated", { todos: [{ content: "x", status: "completed" }] });
  await shows(stage, "idle");
});

test("a failure stays until it works again; being stopped by a person is none", async () => {
  await create({});
  await hearOf("session.error", { error: { name: "APIError", data: { message: "overloaded" } } });
  await hearOf("session.idle");
  await shows(stage, "failed: overloaded");
  await prompt("again");
  await shows(stage, "working: again");
  await hearOf("session.error", { error: { name: "MessageAbortedError" } });
  await shows(stage, "idle");
});

test("the parent of a message is no parent of its session", async () => {
  await create({});
  await prompt("go");
  await hearOf("message.updated", { info: { id: "msg_2", role: "assistant", parentID: "msg_1" } });
  await hearOf("session.idle");
  await shows(stage, "idle");
  await prompt("go on");
  await shows(stage, "working: go on");
});

describe("a question", () => {
  test("is shown until it is answered, and then the one before it", async () => {
    await create({});
    await prompt("go");
    const questions = [
      { question: "Which?", header: "W", options: [{ label: "a" }, { label: "b" }] },
    ];
    await hearOf("question.asked", { id: "q1", questions });
    await shows(stage, "input-required: Which?");
    expect(asked(stage)).toMatchObject({ kind: "choice", text: "Which?", options: ["a", "b"] });
    await ask("p1");
    await shows(stage, "input-required: bash: ls");
    await hearOf("permission.replied", { requestID: "p1", reply: "once" });
    await shows(stage, "input-required: Which?");
    await hearOf("question.replied", { requestID: "q1", answers: [["a"]] });
    await shows(stage, "working: go");
    expect(asked(stage)).toBeUndefined();
  });

  test("about a command shows all of it, and what may be answered", async () => {
    await create({});
    await ask("p1", {
      patterns: ["touch a", "sleep 4"],
      always: ["touch *", "sleep *"],
      metadata: { command: "touch a &&\n  sleep 4" },
    });
    await shows(stage, "input-required: bash: touch a && sleep 4");
    expect(asked(stage)).toMatchObject({
      kind: "permission",
      tool: "bash",
      options: ["allow once", "allow always: touch *, sleep *", "reject"],
    });
  });

  test.each([
    [{ permission: "edit", metadata: { filepath: "/p/a.ts", diff: "…" } }, "edit: /p/a.ts"],
    [{ permission: "read", patterns: ["a", "b"], metadata: {} }, "read: a, b"],
    [{ type: "bash", title: "Run ls" }, "bash: Run ls"],
    [{ permission: "todowrite" }, "Use todowrite?"],
  ])("of %j is %s", async (properties, text) => {
    await create({});
    await hearOf("permission.asked", { id: "p1", ...properties });
    await shows(stage, `input-required: ${text}`);
  });

  test("that was answered is not asked anew by an event that comes late or twice", async () => {
    await create({});
    await prompt("go");
    await hearOf("permission.replied", { requestID: "p1", reply: "once" });
    await ask("p1");
    await ask("p2");
    await hearOf("permission.replied", { requestID: "p2", reply: "once" });
    await ask("p2");
    await shows(stage, "working: go");
  });

  test.each<[string, () => Promise<void>]>([
    ["its tool has run", () => hooks["tool.execute.after"]({ sessionID: "ses_1", callID: "c1" })],
    [
      "the session writes its next message",
      () => hearOf("message.updated", { info: { id: "msg_2", role: "assistant" } }),
    ],
  ])("is over when %s, whoever missed the answer", async (_, happens) => {
    await create({});
    await prompt("go");
    await ask("p1", { tool: { callID: "c1", messageID: "msg_1" } });
    await shows(stage, "input-required: bash: ls");
    await hooks["tool.execute.after"]({ sessionID: "ses_1", callID: "c0" });
    await hearOf("message.updated", { info: { id: "msg_1", role: "assistant" } });
    await shows(stage, "input-required: bash: ls");
    await happens();
    await shows(stage, "working: go");
  });

  test("is over when the session stops", async () => {
    await create({});
    await ask("p1");
    await hearOf("session.error", { error: { name: "MessageAbortedError" } });
    await shows(stage, "idle");
  });
});

describe("a subagent", () => {
  test("has no row of its own, and works in that of its parent", async () => {
    await create({});
    await prompt("go");
    await createSubagent();
    await hooks["tool.execute.before"]({ sessionID: "ses_2", callID: "c1" });
    await hear("session.status", { sessionID: "ses_2", status: { type: "idle" } });
    await shows(stage, "working: go");
  });

  test("asks in the row of its parent, however deep it is", async () => {
    await create({});
    await prompt("go");
    await createSubagent();
    await create({ id: "ses_3", parentID: "ses_2" });
    await hear("permission.asked", { sessionID: "ses_3", id: "p1", permission: "bash" });
    await shows(stage, "input-required: Use bash?");
    await hear("permission.replied", { sessionID: "ses_3", requestID: "p1", reply: "once" });
    await shows(stage, "working: go");
  });

  test("that is stopped takes its question with it, and nothing of its parent's", async () => {
    await create({});
    await prompt("go");
    await createSubagent();
    await ask("p1");
    await hear("permission.asked", { sessionID: "ses_2", id: "p2", permission: "edit" });
    await shows(stage, "input-required: Use edit?");
    await hear("session.idle", { sessionID: "ses_2" });
    await shows(stage, "input-required: bash: ls");
  });
});

test("what a session does is told on where the clock, and ids with it, was set back", async () => {
  const clock = vi.spyOn(performance, "now").mockReturnValue(0);
  await create({});
  const status = (type: string, id: string) =>
    hear("session.status", { sessionID: "ses_1", status: { type } }, id);
  const answer = async (id: string, text: string) => {
    await hearOf("message.updated", { info: { id, role: "assistant" } });
    await hearOf("message.part.updated", { part: { messageID: id, type: "text", text } });
  };
  await status("busy", "evt_9");
  await answer("msg_9", "Shall I?");
  clock.mockReturnValue(60_000);
  await status("idle", "evt_1");
  await shows(stage, "input-required: Shall I?");
  await prompt("yes");
  await answer("msg_1", "Done.");
  await status("idle", "evt_2");
  await shows(stage, "idle");
  clock.mockRestore();
});

test("an event that comes late says nothing of what the session does now", async () => {
  await create({});
  const status = (type: string, id: string) =>
    hear("session.status", { sessionID: "ses_1", status: { type } }, id);
  await status("busy", "evt_2");
  await shows(stage, "working");
  await status("idle", "evt_4");
  await status("busy", "evt_3");
  await status("busy", "evt_2");
  await hooks["tool.execute.after"]({ sessionID: "ses_1", callID: "c1" });
  await shows(stage, "idle");
});

test("a status of a later version is told to `rollcall doctor`, and changes nothing", async () => {
  await prompt("go");
  await hearOf("session.status", { status: { type: "dreaming" } });
  await shows(stage, "working: go");
  const told = surprises({ XDG_STATE_HOME: stage.home });
  expect(told.map(({ host, what }) => `${host}: ${what}`)).toEqual([
    "opencode: a session that is dreaming",
  ]);
});

test("nothing that OpenCode may send one day makes it fail", async () => {
  for (const properties of [null, 1, [], {}, { sessionID: 7 }, { info: null }, { sessionID: "" }]) {
    for (const type of ["session.created", "question.asked", "todo.updated", "else"]) {
      await hooks.event({ event: { type, properties } });
    }
  }
  expect(statuses(stage)).toEqual([]);
  expect(readdirSync(stage.home)).toEqual([]);
});

describe("the last words of an answer", () => {
  const message = (role: string, id: string) => hearOf("message.updated", { info: { id, role } });
  const part = (messageID: string, text: string, type = "text") =>
    hear("message.part.updated", { part: { sessionID: "ses_1", messageID, type, text } });

  test("ask when they are a question, until the next prompt", async () => {
    await create({});
    await prompt("look at it");
    await message("user", "msg_1");
    await part("msg_1", "Is this mine?");
    await message("assistant", "msg_2");
    await part("msg_2", "I looked at it.");
    await part("msg_2", "I looked at it. Shall I go on?");
    await hearOf("session.idle");
    await shows(stage, "input-required: Shall I go on?");
    await hearOf("session.status", { status: { type: "idle" } });
    await shows(stage, "input-required: Shall I go on?");
    await prompt("yes");
    await shows(stage, "working: yes");
    await message("assistant", "msg_3");
    await hearOf("session.idle");
    await shows(stage, "idle");
  });

  test("ask nothing in a turn that a person stopped, nor as thoughts", async () => {
    await create({});
    await prompt("look at it");
    await message("assistant", "msg_1");
    await part("msg_1", "Shall I go on?");
    await hearOf("session.error", { error: { name: "MessageAbortedError" } });
    await shows(stage, "idle");
    await prompt("think");
    await message("assistant", "msg_2");
    await part("msg_2", "What does the person want?", "reasoning");
    await hearOf("session.idle");
    await shows(stage, "idle");
  });
});
