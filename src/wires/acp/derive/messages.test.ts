// Messages of a tool (section 4.5), of a plan (4.6), and of silence (4.7).
import { expect, test } from "vitest";
import { Play } from "../../../../test/support/acp/fixture.ts";
import { SECOND } from "../../../core/units.ts";

test("the latest title is said: titles get better over time", () => {
  const play = new Play().open().prompt().tool("t", { kind: "read", title: "ReadFile" });
  play.tool("t", { title: "ReadFile: notes.txt" }).tool("t", { title: "" });
  expect(play.is).toBe("reading: ReadFile: notes.txt");
});

test("a bare word gets the file it works on, with its line", () => {
  const locations = [{ path: "/srv/app/src/main.rs", line: 12 }];
  const play = new Play().open().prompt().tool("t", { kind: "read", title: "read", locations });
  expect(play.is).toBe("reading: read main.rs:12");
});

test("without a title the name is said, and without a name a verb", () => {
  const play = new Play().open().prompt().tool("t", { kind: "execute" });
  expect(play.is).toBe("writing: Executing");
  expect(play.tool("t", { name: "bash" }).is).toBe("writing: bash");
});

test("what is said is one line without control characters, 120 long, and never raw input", () => {
  const play = new Play().open().prompt();
  const title = `a\u001b]0;title\u0007b\n\n c \u202e${"x".repeat(500)}`;
  play.tool("t", { kind: "edit", title, rawInput: { token: "secret" }, rawOutput: "secret" });
  const { message } = play.record();
  expect(message).toMatch(/^ab c x+…$/);
  expect(message).toHaveLength(120);
  expect(JSON.stringify(play.said)).not.toContain("secret");
});

test("a cut never leaves half a character", () => {
  const play = new Play()
    .open()
    .prompt()
    .tool("t", { title: `x${"😀".repeat(100)}` });
  expect(play.record().message).toMatch(/^x(?:😀)+…$/u);
});

test("the step that runs is the current one, else the first that is not over", () => {
  const play = new Play().open().prompt();
  expect(task(play.plan("completed", "pending", "in_progress"))).toBe("Step 3/3: do 3");
  expect(task(play.plan("completed", "cancelled", "pending"))).toBe("Step 3/3: do 3");
  expect(task(play.plan("completed", "completed"))).toBeNull();
  expect(task(play.plan())).toBeNull();
});

test("a task is hidden while the session is idle", () => {
  const play = new Play().open().prompt().plan("in_progress");
  expect(task(play.end())).toBeNull();
});

test("of several plans the one speaks that changed last and is not finished", () => {
  const play = new Play().open(2).prompt();
  planUpdate(play, "a", "in_progress");
  planUpdate(play, "b", "pending");
  expect(task(play)).toBe("Step 1/1: of b");
  planUpdate(play, "b", "completed");
  expect(task(play)).toBe("Step 1/1: of a");
  play.update({ sessionUpdate: "plan_removed", planId: "a" });
  expect(task(play)).toBeNull();
});

test("a to-do list in the input of a tool is read only if one asks for it", () => {
  const rawInput = { todos: [{ content: "first", status: "in_progress" }] };
  const [asked, unasked] = [{ readsTodos: true }, {}].map((options) =>
    new Play(options).open().prompt().tool("t", { name: "todowrite", rawInput }),
  );
  expect(asked?.record().currentTask).toBe("Step 1/1: first");
  expect(unasked?.record().currentTask).toBeNull();
});

test.each([
  { what: "thinking, no tool open", hint: 30, stalled: 120, act: (play: Play) => play },
  { what: "edit", hint: 30, stalled: 120, act: calling("edit") },
  { what: "delete", hint: 30, stalled: 120, act: calling("delete") },
  { what: "move", hint: 30, stalled: 120, act: calling("move") },
  { what: "read", hint: 60, stalled: 300, act: calling("read") },
  { what: "search", hint: 60, stalled: 300, act: calling("search") },
  { what: "fetch", hint: 60, stalled: 300, act: calling("fetch") },
  { what: "think", hint: 60, stalled: 300, act: calling("think") },
  { what: "other", hint: 60, stalled: 300, act: calling("other") },
  { what: "execute", hint: 120, stalled: 900, act: calling("execute") },
  { what: "execute beside edit", hint: 120, stalled: 900, act: calling("execute", "edit") },
  { what: "a terminal of the client", hint: 120, stalled: 900, act: waitForTerminal },
  { what: "cancel sent", hint: 5, stalled: 15, act: cancelled },
])("silence, $what: a hint after $hint s, stalled after $stalled s", ({ hint, stalled, act }) => {
  const play = act(new Play().open().prompt());
  const { status } = play.record();
  play.later(hint * SECOND - 1);
  expect(play.record()).toMatchObject({ stalled: false, quietSeconds: 0 });
  play.later(1);
  expect(play.record()).toMatchObject({ status, stalled: false, quietSeconds: hint });
  play.later((stalled - hint) * SECOND);
  expect(play.record()).toMatchObject({ status, stalled: true, quietSeconds: stalled });
  expect(play.deriver.nextDeadlineMs).toBeUndefined();
  play.update({ sessionUpdate: "session_info_update" });
  expect(play.record()).toMatchObject({ status, stalled: false, quietSeconds: 0 });
});

test("silence while waiting is that of a person: reminded after 5 min, never stalled", () => {
  const play = new Play()
    .open()
    .prompt()
    .ask(1)
    .later(300 * SECOND);
  expect(play.record()).toMatchObject({ stalled: false, quietSeconds: 300 });
  expect(play.later(86_400 * SECOND).record().stalled).toBe(false);
});

test.each([
  ["initialize", 10, 30],
  ["session/new", 15, 60],
])("silence after %s: a hint after %d s, stalled after %d s", (method, hint, stalled) => {
  const play = new Play().client({ id: 0, method, params: {} }).later(hint * SECOND);
  expect(play.deriver.agent).toMatchObject({ stalled: false, quietSeconds: hint });
  expect(play.later((stalled - hint) * SECOND).deriver.agent.stalled).toBe(true);
});

test("an idle session is never quiet, and a sleep of the machine is nobody's silence", () => {
  const play = new Play().open().later(3600 * SECOND);
  expect(play.record()).toMatchObject({ status: "idle", quietSeconds: 0 });
  play.prompt();
  play.nowMs += 3600 * SECOND;
  play.deriver.woke(play.nowMs);
  expect(play.record().stalled).toBe(false);
  expect(play.later(30 * SECOND).record().quietSeconds).toBe(30);
});

test("a child that works is a sign of life of its parent", () => {
  const play = new Play().open().prompt();
  const state = { state: "running" };
  play.update({ sessionUpdate: "subagent_update", sessionId: "C", state }).later(29 * SECOND);
  play.update({ sessionUpdate: "agent_thought_chunk" }, "C").later(29 * SECOND);
  expect(play.record().quietSeconds).toBe(0);
});

function task(play: Play): string | null {
  return play.record().currentTask;
}

function planUpdate(play: Play, planId: string, status: string): void {
  const entries = [{ content: `of ${planId}`, status }];
  play.update({ sessionUpdate: "plan_update", plan: { type: "items", planId, entries } });
}

function calling(...kinds: readonly string[]): (play: Play) => Play {
  return (play) => kinds.reduce((all, kind) => all.tool(kind, { kind }), play);
}

function cancelled(play: Play): Play {
  return play.tool("t", { kind: "execute" }).cancel();
}

function waitForTerminal(play: Play): Play {
  const params = { sessionId: "S", terminalId: "x" };
  return play.agent({ id: 1, method: "terminal/wait_for_exit", params });
}
