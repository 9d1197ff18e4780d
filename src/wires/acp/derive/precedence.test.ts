// Every row of the precedence table, by its number, and that it beats the rows below it.
import { expect, test } from "vitest";
import { Play, inWords } from "../../../../test/support/acp/fixture.ts";

test("row 0: an agent that exited is idle and says how it ended, and everything is cleared", () => {
  const play = new Play().open().prompt().tool("t1", { kind: "edit" }).ask(5, { title: "Edit" });
  const last = play.deriver.exited({ code: 3 }, play.nowMs);
  expect(last.map((record) => [record.sessionId, record.state, inWords(record)])).toEqual([
    ["S", "exited", "idle: Agent exited (code 3)"],
    [null, "exited", "idle: Agent exited (code 3)"],
  ]);
  expect(last[0]).toMatchObject({ openTools: 0, pendingAsks: 0, questions: [] });
  expect(play.deriver.records()).toEqual([]);
  expect(play.deriver.nextDeadlineMs).toBeUndefined();
});

test("row 0: a signal is named, and frames after the end are not looked at", () => {
  const play = new Play().open();
  play.deriver.exited({ code: null, signal: "SIGKILL" }, play.nowMs);
  play.prompt();
  expect(inWords(play.deriver.agent)).toBe("idle: Agent exited (SIGKILL)");
  expect(play.deriver.exited({ code: 0 }, play.nowMs)).toEqual([]);
});

test("row 1: an agent starts until initialize is answered, then opens a session", () => {
  const play = new Play();
  play.client({ id: 0, method: "initialize", params: { protocolVersion: 1 } });
  expect(play.deriver.agent).toMatchObject({ state: "starting", message: "Starting agent" });
  expect(play.deriver.agent.status).toBe("thinking");
  play.agent({ id: 0, result: { protocolVersion: 1 } });
  expect(play.deriver.agent).toMatchObject({ state: "idle", status: "idle" });
  play.client({ id: 1, method: "session/new", params: { cwd: "/srv" } });
  expect(play.deriver.agent).toMatchObject({ state: "starting", message: "Opening session" });
  play.agent({ id: 1, result: { sessionId: "S" } });
  expect(play.deriver.agent).toMatchObject({ state: "idle", status: "idle", message: null });
});

test("row 1: an answer of -32000 waits for a sign-in, and says the ways to do it", () => {
  const play = new Play();
  const authMethods = [{ id: "login", name: "Log in with a browser" }];
  play.client({ id: 0, method: "initialize", params: { protocolVersion: 1 } });
  play.agent({ id: 0, result: { protocolVersion: 1, authMethods } });
  play.client({ id: 1, method: "session/new", params: { cwd: "/srv" } });
  play.agent({ id: 1, error: { code: -32000, message: "Authentication required" } });
  expect(inWords(play.deriver.agent)).toBe("waiting: Sign in required");
  expect(play.deriver.agent.questions).toEqual([
    {
      id: "auth",
      kind: "auth",
      text: "Sign in required",
      options: [{ id: "login", name: "Log in with a browser", kind: "auth" }],
      since: new Date(play.nowMs).toISOString(),
    },
  ]);
  play.client({ id: 2, method: "authenticate", params: { methodId: "login" } });
  play.agent({ id: 2, result: {} });
  expect(play.deriver.agent).toMatchObject({ status: "idle", questions: [] });
});

test("row 1: a prompt that needs a sign-in waits for it, until the client tries again", () => {
  const play = new Play().open().prompt();
  play.agent({ id: 100, error: { code: -32000, message: "log in first" } });
  expect(inWords(play.deriver.agent)).toBe("waiting: Sign in required");
  expect(play.is).toBe("idle: Error: log in first");
  play.prompt(101);
  expect(inWords(play.deriver.agent)).toBe("thinking: Thinking");
});

test("row 2: what comes before a load is answered is history and changes nothing", () => {
  const play = new Play().open();
  play.client({ id: 7, method: "session/load", params: { sessionId: "S", cwd: "/srv/app" } });
  expect(play.is).toBe("idle: Loading history");
  play.tool("old", { kind: "edit", status: "in_progress", title: "Old edit" }).chunk("old text");
  play.update({ sessionUpdate: "agent_status_update", status: "writing" });
  expect(play.is).toBe("idle: Loading history");
  play.agent({ id: 7, result: {} });
  expect(play.record()).toMatchObject({ status: "idle", message: null, openTools: 0 });
});

test("row 2: the status before a load stays while it runs, whatever is asked", () => {
  const play = new Play().open().prompt().tool("t1", { kind: "read", title: "Read a.rs" });
  play.client({ id: 7, method: "session/resume", params: { sessionId: "S", cwd: "/srv" } });
  play.ask(3, { title: "May I?" });
  expect(play.is).toBe("reading: Loading history");
  play.agent({ id: 7, result: {} });
  expect(play.is).toBe("waiting: May I?");
});

test("row 2: a session that cannot be loaded is forgotten again", () => {
  const play = new Play();
  play.client({ id: 7, method: "session/load", params: { sessionId: "L", cwd: "/srv" } });
  expect(play.deriver.records()).toHaveLength(1);
  play.agent({ id: 7, error: { code: -32002, message: "not found" } });
  expect(play.deriver.records()).toEqual([]);
});

test("row 2: a session resumed in v2 has the state that came with the history", () => {
  const play = new Play().open(2);
  play.client({ id: 7, method: "session/resume", params: { sessionId: "S", cwd: "/srv" } });
  play.tool("old", { kind: "edit", status: "in_progress" }).state("running");
  expect(play.is).toBe("idle: Loading history");
  play.agent({ id: 7, result: {} });
  expect(play.is).toBe("thinking: Thinking");
});

test("row 3: an open permission beats a running tool and what the agent says itself", () => {
  const play = new Play().open().prompt();
  play.tool("t1", { kind: "execute", status: "in_progress", title: "echo done" });
  play.update({ sessionUpdate: "agent_status_update", status: "writing", message: "busy" });
  play.ask(2, { toolCallId: "t1", title: "echo done", status: "pending" });
  expect(play.is).toBe("waiting: echo done");
  expect(play.record()).toMatchObject({ state: "waiting", pendingAsks: 1 });
  expect(play.record().questions).toMatchObject([
    {
      kind: "permission",
      text: "echo done",
      options: [
        { id: "yes", name: "Allow", kind: "allow_once" },
        { id: "no", name: "Reject", kind: "reject_once" },
      ],
    },
  ]);
});

test("row 6: a call that only the permission named runs from the answer to its update", () => {
  const play = new Play().open().prompt();
  play.ask(2, { toolCallId: "t1", title: "touch a", kind: "execute", status: "pending" });
  expect(play.is).toBe("waiting: touch a");
  expect(play.answer(2, "yes").is).toBe("writing: touch a");
  expect(play.tool("t1", { status: "completed" }).is).toBe("thinking: Thinking");
});

test("row 6: a call that only the permission named is over when the agent goes on talking", () => {
  const play = new Play().open().prompt();
  play.ask(2, { toolCallId: "t1", title: "touch a", kind: "execute" }).answer(2, "yes");
  expect(play.chunk("It is there.").is).toBe("thinking: Responding");
  play.ask(3, { toolCallId: "t2", title: "touch b", kind: "execute" });
  expect(play.answer(3, "no").is).toBe("thinking: Responding");
});

test("row 3: in v2 the title of the request is asked, and the call of its subject is meant", () => {
  const play = new Play().open(2).prompt().state("running");
  play.tool("t1", { kind: "edit", status: "in_progress", title: "Edit a.rs" });
  play.agent({
    id: 4,
    method: "session/request_permission",
    params: {
      sessionId: "S",
      title: "Let me edit a.rs",
      subject: { type: "tool_call", toolCall: { toolCallId: "t1" } },
      options: [{ optionId: "no", name: "No", kind: "reject_once" }],
    },
  });
  expect(play.is).toBe("waiting: Let me edit a.rs");
  play.answer(4, "no");
  expect(play.is).toBe("thinking: Thinking");
});

test("row 3: an elicitation waits with its message, in its session or that of its request", () => {
  const play = new Play().open().prompt(9);
  const ask = { method: "elicitation/create", params: { requestId: 9, message: "Which port?" } };
  play.agent({ id: 1, ...ask });
  expect(play.is).toBe("waiting: Which port?");
  play.client({ id: 1, result: { action: "decline" } });
  expect(play.is).toBe("thinking: Thinking");
});

test("row 3: an elicitation of no session is a question of the agent", () => {
  const play = new Play();
  play.agent({ id: 1, method: "elicitation/create", params: { message: "Which account?" } });
  expect(inWords(play.deriver.agent)).toBe("waiting: Which account?");
  expect(play.deriver.agent.pendingAsks).toBe(1);
  play.client({ id: 1, result: { action: "accept" } });
  expect(play.deriver.agent).toMatchObject({ status: "idle", pendingAsks: 0 });
});

test("row 4: requires_action waits, above what the agent says itself", () => {
  const play = new Play().open(2).prompt().state("running");
  play.update({ sessionUpdate: "agent_status_update", status: "reading" });
  play.state("requires_action");
  expect(play.record()).toMatchObject({
    status: "waiting",
    message: "Input needed",
    source: "state_update",
  });
});

test.each([
  [
    "nested",
    { update: { sessionUpdate: "agent_status_update", ...said() } },
    "agent_status_update",
  ],
  ["flat", { sessionUpdate: "agent_status_update", ...said() }, "agent_status_update"],
  ["in _meta", { update: { sessionUpdate: "session_info_update", _meta: meta() } }, "meta"],
])("row 5: what the agent says itself, %s, beats its tools", (_form, params, source) => {
  const play = new Play().open().prompt().tool("t1", { kind: "edit", status: "in_progress" });
  play.agent({ method: "session/update", params: { sessionId: "S", ...params } });
  expect(play.record()).toMatchObject({ ...said(), source, state: "running", openTools: 1 });
  play.end();
  expect(play.is).toBe("idle: Done");
});

test("row 5: our own notification is read, and a word that is none of the five thinks", () => {
  const play = new Play().open().prompt();
  play.agent({ method: "_rollcall/agent_status", params: { sessionId: "S", status: "dancing" } });
  expect(play.record()).toMatchObject({ status: "thinking", message: "Thinking", source: "meta" });
});

test("row 5: it is valid until the next one, the end of the turn, or the next prompt", () => {
  const play = new Play().open().prompt();
  play.update({ sessionUpdate: "agent_status_update", status: "reading" });
  play.update({ sessionUpdate: "agent_status_update", status: "idle" });
  expect(play.record()).toMatchObject({ state: "idle", status: "idle" });
  play.prompt(101);
  expect(play.is).toBe("thinking: Thinking");
});

test("row 5: outside of a turn nobody asked", () => {
  const play = new Play().open().later(5000);
  play.update({ sessionUpdate: "agent_status_update", status: "writing" });
  expect(play.is).toBe("idle");
});

test("row 6: an open tool call speaks by its kind, also while it is pending", () => {
  const play = new Play().open().prompt().chunk("Let me look.");
  play.tool("t1", { kind: "read", title: "Read a.rs" });
  expect(play.is).toBe("reading: Read a.rs");
  play.tool("t1", { status: "completed" });
  expect(play.is).toBe("thinking: Responding");
});

test.each([
  ["fs/read_text_file", { path: "/srv/app/a.rs" }, "reading: Reading a.rs"],
  ["terminal/output", { terminalId: "x" }, "reading: Reading output of a command"],
  ["fs/write_text_file", { path: "C:\\app\\b.rs", content: "" }, "writing: Writing b.rs"],
  ["terminal/create", { command: "npm", args: ["--token=1"] }, "writing: Running npm"],
  ["terminal/wait_for_exit", { terminalId: "x" }, "writing: Running a command"],
])("row 7: %s of the client speaks where no tool is open", (method, params, words) => {
  const play = new Play().open().prompt();
  play.agent({ id: 1, method, params: { sessionId: "S", ...params } });
  expect(play.is).toBe(words);
  play.tool("t1", { kind: "think", title: "Plan" });
  expect(play.is).toBe("thinking: Plan");
  play.tool("t1", { status: "completed" }).client({ id: 1, result: {} });
  expect(play.is).toBe("thinking: Thinking");
});

test("row 7: while a terminal runs, its command is known from when it was created", () => {
  const play = new Play().open().prompt();
  const sessionId = "S";
  play.agent({ id: 1, method: "terminal/create", params: { sessionId, command: "cargo" } });
  play.client({ id: 1, result: { terminalId: "x" } });
  play.agent({ id: 2, method: "terminal/wait_for_exit", params: { sessionId, terminalId: "x" } });
  expect(play.is).toBe("writing: Running cargo");
});

test("row 8: a compaction thinks until it is over", () => {
  const play = new Play().open().prompt().chunk("text");
  const compaction = { sessionUpdate: "compaction_update", compactionId: "c" };
  play.update({ ...compaction, status: "in_progress" });
  expect(play.is).toBe("thinking: Compacting context");
  play.update({ ...compaction, status: "completed" });
  expect(play.is).toBe("thinking: Responding");
});

test("row 9: in v1 an open prompt thinks; text responds, a cancel cancels", () => {
  const play = new Play().open().prompt();
  expect(play.is).toBe("thinking: Thinking");
  expect(play.chunk("Hello").is).toBe("thinking: Responding");
  expect(play.thought().is).toBe("thinking: Thinking");
  expect(play.cancel().is).toBe("thinking: Cancelling");
  expect(play.end("cancelled").is).toBe("idle: Cancelled");
});

test("row 9: in v2 the answer to the prompt is not the end; no idle before running", () => {
  const play = new Play().open(2).prompt();
  play.agent({ id: 100, result: { messageId: "m" } });
  play.update({ sessionUpdate: "user_message", messageId: "m" });
  expect(play.is).toBe("thinking: Thinking");
  play.state("running");
  expect(play.record()).toMatchObject({ status: "thinking", source: "state_update" });
  play.state("idle", { stopReason: "end_turn" });
  expect(play.record()).toMatchObject({ status: "idle", message: "Done", stopReason: "end_turn" });
});

test("row 10: frames of the first two seconds after a turn are its tail and change nothing", () => {
  const play = new Play().open().prompt().end().later(2000);
  play.tool("late", { kind: "edit", status: "in_progress" }).chunk("late");
  expect(play.record()).toMatchObject({ status: "idle", background: false, openTools: 0 });
});

test("row 10: later ones are work in the background, which ends with its silence", () => {
  const play = new Play().open().prompt().end().later(2001).chunk("By the way");
  expect(play.record()).toMatchObject({ message: "Responding", background: true });
  play.tool("t", { kind: "execute", status: "in_progress", title: "npm test" }).later(60_000);
  expect(play.record()).toMatchObject({ status: "writing", background: true });
  play.tool("t", { status: "completed" }).later(29_999);
  expect(play.record()).toMatchObject({ status: "thinking", background: true });
  play.later(1);
  expect(play.record()).toMatchObject({ status: "idle", message: "Done", background: false });
});

test("row 11: a state that nobody knows works, and is never idle", () => {
  const play = new Play().open(2).prompt().state("hibernating");
  expect(play.record()).toMatchObject({ status: "thinking", message: "Working" });
  play.state("unknown");
  expect(play.is).toBe("thinking: Working");
});

test.each([
  ["end_turn", "Done"],
  ["cancelled", "Cancelled"],
  ["refusal", "Refused"],
  ["max_tokens", "Token limit"],
  ["max_turn_requests", "Turn limit"],
  ["bored", "Stopped: bored"],
])("row 12: a turn that ended with %s is idle: %s", (stopReason, message) => {
  const play = new Play().open().prompt().end(stopReason);
  expect(play.record()).toMatchObject({ status: "idle", message, stopReason, error: null });
});

test("row 12: a prompt that failed says why, in either version", () => {
  const v1 = new Play().open().prompt();
  v1.agent({ id: 100, error: { code: -32603, message: "model is gone" } });
  const v2 = new Play().open(2).prompt().state("running");
  v2.state("idle", { stopReason: "error", error: { message: "model is gone" } });
  for (const play of [v1, v2]) {
    expect(play.record()).toMatchObject({
      status: "idle",
      message: "Error: model is gone",
      error: "model is gone",
      stopReason: "error",
    });
  }
});

function said(): object {
  return { status: "reading", message: "Reading codebase", currentTask: "Step 2/5: Finding" };
}

function meta(): object {
  return { "rollcall/status": said() };
}
