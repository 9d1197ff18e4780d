// Effects of frames (the table of section 4.3), how several tools and agents add up (4.4), and
// the facts that are kept.
import { expect, test } from "vitest";
import { inWords, Play } from "../../../../test/support/acp/fixture.ts";

test("a prompt opens a turn and clears what the last one left", () => {
  const play = new Play().open().prompt().end("refusal").prompt(101);
  expect(play.record()).toMatchObject({ status: "thinking", stopReason: null, error: null });
});

test("the last of several prompts ends the turn, and drops the tools that were left open", () => {
  const play = new Play().open().prompt(1).prompt("1").tool("t1", { kind: "edit" });
  play.end("end_turn", 1);
  expect(play.record()).toMatchObject({ status: "writing", openTools: 1 });
  play.end("end_turn", "1");
  expect(play.record()).toMatchObject({ status: "idle", openTools: 0 });
});

test("a prompt that was cancelled as a request is no error", () => {
  const play = new Play().open().prompt();
  play.agent({ id: 100, error: { code: -32800, message: "cancelled" } });
  expect(play.record()).toMatchObject({ message: "Cancelled", error: null });
});

test("in v2 a refused prompt ends nothing that runs, but ends a turn that did not begin", () => {
  const play = new Play().open(2).prompt(1).state("running").prompt(2);
  play.agent({ id: 2, error: { code: -32600, message: "busy" } });
  expect(play.is).toBe("thinking: Thinking");
  play.state("idle", { stopReason: "end_turn" }).prompt(3);
  play.agent({ id: 3, error: { code: -32600, message: "no" } });
  expect(play.is).toBe("idle: Error: no");
});

test("the state idle drops tools, except those that go on in the background", () => {
  const play = new Play().open(2).prompt().state("running");
  play.tool("t1", { kind: "edit" }).tool("t2", { kind: "execute", title: "npm start" });
  const background = [{ type: "tool_call", toolCallId: "t2" }];
  play.state("idle", { stopReason: "end_turn", background });
  expect(play.record()).toMatchObject({ status: "idle", background: true, openTools: 0 });
  play.state("idle", { stopReason: "end_turn", background: [] });
  expect(play.record()).toMatchObject({ status: "idle", message: "Done", background: false });
});

test("a state that is told again is no second ending", () => {
  const play = new Play().open(2).prompt().state("idle", { stopReason: "refusal" });
  play.state("idle");
  expect(play.record()).toMatchObject({ message: "Refused", stopReason: "refusal" });
});

test("a session whose agent said idle is not made busy by a tool of the background", () => {
  const play = new Play().open(2).prompt().state("idle", { stopReason: "end_turn" });
  play.tool("bg", { kind: "execute", status: "in_progress" });
  expect(play.record()).toMatchObject({ status: "idle", background: true });
});

test("v1 knows no state_update: the prompt has the word", () => {
  const play = new Play().open(1).prompt().state("idle");
  expect(play.is).toBe("thinking: Thinking");
});

test("a thought, and a whole message of v2, say what is being done", () => {
  const play = new Play().open(2).prompt();
  play.update({ sessionUpdate: "agent_message", content: [{ type: "text", text: "Hi" }] });
  expect(play.is).toBe("thinking: Responding");
  play.update({ sessionUpdate: "agent_thought", content: [] });
  expect(play.is).toBe("thinking: Thinking");
});

test("an empty chunk, which carries usage, is no answer", () => {
  const play = new Play().open().prompt().thought().chunk("");
  expect(play.is).toBe("thinking: Thinking");
  play.end().later(3000).chunk("");
  expect(play.record()).toMatchObject({ status: "idle", background: false });
});

test("what an update leaves out or sets to null stays as it was", () => {
  const play = new Play().open().prompt();
  play.tool("t1", { kind: "read", title: "Read a.rs", status: "in_progress" });
  play.tool("t1", { title: null, kind: null, status: null, rawOutput: "secret" });
  expect(play.is).toBe("reading: Read a.rs");
});

test("a call that is completed is not opened again by its output", () => {
  const play = new Play().open().prompt().tool("t1", { kind: "read", status: "completed" });
  play.tool("t1", { rawOutput: "text", title: "Read a.rs" });
  expect(play.is).toBe("thinking: Thinking");
});

test.each([
  ...["read", "search", "fetch"].map((kind) => [kind, "reading"] as const),
  ...["edit", "delete", "move", "execute"].map((kind) => [kind, "writing"] as const),
  ...["think", "switch_mode", "other", "constructor"].map((kind) => [kind, "thinking"] as const),
])("a tool of kind %s is %s", (kind, status) => {
  expect(new Play().open().prompt().tool("t1", { kind }).record().status).toBe(status);
});

test("a permission that is given lets the tool run on", () => {
  const play = new Play().open().prompt().tool("t1", { kind: "edit", title: "Edit" });
  play.ask(0, { toolCallId: "t1" }).answer(0, "yes");
  expect(play.record()).toMatchObject({ status: "writing", message: "Edit", pendingAsks: 0 });
});

test.each([
  ["rejected", { result: { outcome: { outcome: "selected", optionId: "no" } } }],
  ["cancelled", { result: { outcome: { outcome: "cancelled" } } }],
  ["answered with an error", { error: { code: -32800, message: "cancelled" } }],
])("a permission that is %s ends the tool, which the agent may never do", (_how, answer) => {
  const play = new Play().open().prompt().tool("t1", { kind: "edit", title: "Edit" });
  play.ask(0, { toolCallId: "t1" }).client({ id: 0, ...answer });
  expect(play.record()).toMatchObject({ status: "thinking", openTools: 0, pendingAsks: 0 });
});

test("ids are counted by each side: the prompt and the permission may both be 2", () => {
  const play = new Play().open().prompt(2).tool("t1", { kind: "execute", title: "echo" });
  play.ask(2, { toolCallId: "t1" }).answer(2, "yes");
  expect(play.is).toBe("writing: echo");
  play.end("end_turn", 2);
  expect(play.is).toBe("idle: Done");
});

test('1 is not "1"', () => {
  const play = new Play().open().prompt().ask(1, { title: "One" }).ask("1", { title: "Two" });
  play.answer("1", "yes");
  expect(play.is).toBe("waiting: One");
});

test("a cancel leaves questions open until they are answered", () => {
  const play = new Play().open().prompt().ask(1, { title: "Edit?" }).cancel();
  expect(play.is).toBe("waiting: Edit?");
  play.client({ id: 1, result: { outcome: { outcome: "cancelled" } } });
  expect(play.is).toBe("thinking: Cancelling");
});

test("plans, housekeeping, extensions and what is unknown change no status", () => {
  const play = new Play().open().prompt().plan("completed", "in_progress", "pending");
  for (const sessionUpdate of HOUSEKEEPING) play.update({ sessionUpdate });
  const sessionId = "S";
  play.agent({ method: "$/cancel_request", params: { requestId: 1 } });
  play.agent({ id: 77, method: "craft/drainMidTurnQueue", params: { sessionId } });
  play.agent({ method: "_auth/status_update", params: { sessionId } });
  expect(play.is).toBe("thinking: Thinking");
  expect(play.record().currentTask).toBe("Step 2/3: do 2");
});

test.each(["session/close", "session/delete"])("%s forgets the session", (method) => {
  const play = new Play().open().prompt();
  play.client({ id: 8, method, params: { sessionId: "S" } });
  expect(play.deriver.records()).toHaveLength(1);
  play.agent({ id: 8, result: {} });
  expect(play.deriver.records()).toEqual([]);
  expect(play.said.findLast(({ sessionId }) => sessionId === "S")).toMatchObject({
    state: "exited",
    message: "Session closed",
  });
});

test("what still comes of a closed session does not open it again, unless the client does", () => {
  const play = new Play().open();
  play.client({ id: 8, method: "session/close", params: { sessionId: "S" } });
  play.agent({ id: 8, result: {} }).later(5000).chunk("late");
  expect(play.deriver.records()).toEqual([]);
  expect(play.prompt().chunk("again").is).toBe("thinking: Responding");
});

test("in parallel, what runs leads, then what writes, then what is newest; all are counted", () => {
  const play = new Play().open().prompt();
  play.tool("a", { kind: "read", status: "in_progress", title: "Read b.rs" });
  play.tool("b", { kind: "search", status: "in_progress", title: "Grep foo" });
  play.tool("c", { kind: "edit", title: "Edit c.rs" });
  expect(play.is).toBe("reading: Grep foo (+2 more)");
  play.ask(1, { toolCallId: "c" });
  expect(play.record().status).toBe("waiting");
  play.answer(1, "yes").tool("a", { status: "completed" }).tool("c", { status: "in_progress" });
  expect(play.is).toBe("writing: Edit c.rs (+1 more)");
});

test("a call that delegates is outranked by what is called within", () => {
  const play = new Play().open().prompt();
  play.tool("task", { kind: "think", status: "in_progress", title: "Task: look around" });
  play.tool("in", { kind: "read", status: "in_progress", title: "Read a.rs" });
  play.tool("task", { title: "Task: look around more" });
  expect(play.is).toBe("reading: Read a.rs (+1 more)");
});

test("a call that is paused holds nothing up, and is background", () => {
  const play = new Play().open(2).prompt().state("running").tool("t", { kind: "execute" });
  play.tool("t", { status: "paused" });
  expect(play.record()).toMatchObject({ status: "thinking", background: true, openTools: 0 });
  play.state("idle", { stopReason: "end_turn" });
  expect(play.record()).toMatchObject({ status: "idle", background: true });
});

test("a child that waits makes its parent wait, through all generations", () => {
  const play = new Play().open().prompt();
  play.update({
    sessionUpdate: "subagent_update",
    sessionId: "C",
    title: "Finder",
    state: running(),
  });
  play.update({ sessionUpdate: "subagent_update", sessionId: "D", state: running() }, "C");
  const ask = { sessionId: "D", toolCall: { title: "rm -r build" }, options: [] };
  play.agent({ id: 1, method: "session/request_permission", params: ask });
  expect(inWords(play.record("D"))).toBe("waiting: rm -r build");
  expect(play.is).toBe("waiting: Subagent Finder: Subagent session: rm -r build");
  play.client({ id: 1, result: { outcome: { outcome: "cancelled" } } });
  expect(play.is).toBe("thinking: Thinking · 1 subagent running");
  expect(play.deriver.session("D")).toMatchObject({ parentId: "C", cwd: "/srv/app" });
});

test("a child by its state alone: requires_action waits, running is counted, idle is not", () => {
  const play = new Play().open().prompt();
  for (const sessionId of ["C", "D"]) {
    play.update({ sessionUpdate: "subagent_update", sessionId, state: running() });
  }
  expect(play.is).toBe("thinking: Thinking · 2 subagents running");
  play.update({ sessionUpdate: "subagent_update", sessionId: "C", state: { state: "idle" } });
  expect(play.end().is).toBe("idle: 1 subagent running");
  expect(play.record().background).toBe(true);
  play.update({
    sessionUpdate: "subagent_update",
    sessionId: "D",
    title: "Fixer",
    state: { state: "requires_action" },
  });
  expect(play.is).toBe("waiting: Subagent Fixer: Input needed");
});

test("sessions that call each other parent and child are no trap", () => {
  const play = new Play().open().prompt();
  play.update({ sessionUpdate: "subagent_update", sessionId: "C", state: running() });
  play.update({ sessionUpdate: "subagent_update", sessionId: "S", state: running() }, "C");
  play.update({ sessionUpdate: "subagent_update", sessionId: "S", state: running() });
  expect(play.record().status).toBe("thinking");
});

test("Claude's tasks of the background are background until they are over", () => {
  const play = new Play().open().prompt().end();
  play.update({ sessionUpdate: "async_task_spawned", asyncTaskId: "a", name: "npm test" });
  expect(play.record()).toMatchObject({ status: "idle", background: true });
  play.update({ sessionUpdate: "async_task_progress", asyncTaskId: "a" });
  play.update({ sessionUpdate: "async_task_state_update", asyncTaskId: "a", state: "completed" });
  expect(play.record().background).toBe(false);
});

test("OpenCode's retry is told while it lasts", () => {
  const play = new Play().open().prompt();
  const retry = { attempt: 3, nextRetryAt: "soon", error: { type: "x", message: "rate limited" } };
  play.update({ sessionUpdate: "session_info_update", _meta: { "opencode/retry": retry } });
  expect(play.is).toBe("thinking: Retrying (attempt 3): rate limited");
  expect(play.chunk("There").is).toBe("thinking: Responding");
});

test("the agent as a whole is the most urgent of its sessions, with the questions of all", () => {
  const play = new Play().open().prompt().tool("t", { kind: "read", title: "Read" });
  play.client({ id: 3, method: "session/new", params: { cwd: "/b" } });
  play.agent({ id: 3, result: { sessionId: "T" } });
  expect(play.deriver.agent).toMatchObject({ sessionId: null, status: "reading", openTools: 1 });
  const ask = { sessionId: "T", toolCall: { title: "May I?" }, options: [] };
  play.agent({ id: 1, method: "session/request_permission", params: ask });
  expect(inWords(play.deriver.agent)).toBe("waiting: May I?");
  expect(play.deriver.agent.questions.map(({ text }) => text)).toEqual(["May I?"]);
});

test("who talks to whom, where, and for what", () => {
  const play = new Play();
  const capabilities = { _meta: { "rollcall/status": "ext" } };
  const clientInfo = { name: "zed", version: "1.0" };
  const params = { protocolVersion: 1, clientInfo, clientCapabilities: capabilities };
  play.client({ id: 0, method: "initialize", params });
  const agentInfo = { name: "coder", title: "The Coder", version: "2.1" };
  play.agent({ id: 0, result: { protocolVersion: 1, agentInfo } });
  expect(play.deriver.facts).toEqual({
    protocolVersion: 1,
    agent: agentInfo,
    client: { name: "zed", title: null, version: "1.0" },
    wants: "ext",
  });
  play.client({ id: 1, method: "session/new", params: { cwd: "/srv/app" } });
  play.agent({ id: 1, result: { sessionId: "S" } });
  play
    .prompt(2, [{ type: "image" }, { type: "text", text: "Fix\n the \u001b[31mbuild" }])
    .end("x", 2);
  play.prompt(3, [{ type: "text", text: "And the tests" }]);
  play.update({ sessionUpdate: "session_info_update", title: "Build" });
  expect(play.deriver.session("S")).toEqual({
    sessionId: "S",
    cwd: "/srv/app",
    title: "Build",
    goal: "Fix the build",
    parentId: null,
  });
});

test("an update may be added only while a turn is open and no history comes", () => {
  const play = new Play().open();
  expect(play.deriver.hasOpenTurn("S")).toBe(false);
  expect(play.prompt().deriver.hasOpenTurn("S")).toBe(true);
  expect(play.end().deriver.hasOpenTurn("S")).toBe(false);
  expect(play.deriver.hasOpenTurn("nobody")).toBe(false);
});

const HOUSEKEEPING = [
  "available_commands_update",
  "config_option_update",
  "current_mode_update",
  "session_info_update",
  "usage_update",
  "notice",
  "user_message_chunk",
  "user_message",
  "nobody_knows",
];

function running(): object {
  return { state: "running" };
}
