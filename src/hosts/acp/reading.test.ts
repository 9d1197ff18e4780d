import { expect, test } from "vitest";
import { TestClock } from "../../engine/testing.ts";
import { readFrame } from "../../wires/acp/frames.ts";
import { Reading } from "./reading.ts";

function reading() {
  const clock = new TestClock();
  const changes: string[] = [];
  const shown: string[] = [];
  const along = new Reading({
    clock,
    name: "agent",
    onChange: ({ sessionId, status, message }) => {
      if (sessionId !== null) changes.push(`${status} ${message}`);
    },
    onShow: ({ sessionId, status, message, stalled }) => {
      if (sessionId !== null) shown.push(`${status} ${message}${stalled ? " stalled" : ""}`);
    },
  });
  const see = (sender: "client" | "agent", ...values: readonly object[]) => {
    for (const value of values) {
      const frame = readFrame({ jsonrpc: "2.0", ...value });
      if (frame) along.look(sender, frame, along.nowMs());
    }
    along.settled();
  };
  const update = (changed: object) => {
    see("agent", { method: "session/update", params: { sessionId: "S", update: changed } });
  };
  const prompt = (id: number) => {
    const text = "run it with TOKEN=abc";
    const params = { sessionId: "S", prompt: [{ type: "text", text }] };
    see("client", { id, method: "session/prompt", params });
  };
  see("client", { id: 0, method: "initialize", params: {} });
  see("agent", { id: 0, result: { protocolVersion: 1, agentInfo: { name: "gemini" } } });
  see("client", { id: 1, method: "session/new", params: { cwd: "/srv/app" } });
  see("agent", { id: 1, result: { sessionId: "S" } });
  return { along, clock, changes, shown, see, update, prompt };
}

const TOOL = { sessionUpdate: "tool_call", toolCallId: "t", kind: "read", title: "Read a" };

test("what lasts a millisecond is a change, and is not shown", async () => {
  const { clock, changes, shown, update, prompt } = reading();
  prompt(2);
  await clock.advance(1_000);
  update(TOOL);
  update({ ...TOOL, sessionUpdate: "tool_call_update", status: "completed" });
  await clock.advance(1_000);
  expect(changes.slice(-3)).toEqual(["thinking Thinking", "reading Read a", "thinking Thinking"]);
  expect(shown).toEqual(["idle null", "thinking Thinking"]);
});

test("silence is told when its time has come, and a sleep of the machine is none", async () => {
  const { along, clock, shown, prompt } = reading();
  prompt(2);
  await clock.advance(119_000);
  expect(shown.at(-1)).toBe("thinking Thinking");
  clock.stepWall(3_600_000);
  await clock.advance(60_000);
  expect(shown.at(-1)).toBe("thinking Thinking");
  await clock.advance(120_000);
  expect(shown.at(-1)).toBe("thinking Thinking stalled");
  along.close();
  expect(clock.timers).toBe(0);
});

test("after a gap, what was open is in doubt until the next prompt says more", () => {
  const { along, changes, see, update, prompt } = reading();
  prompt(2);
  update(TOOL);
  along.lost("agent", along.nowMs());
  expect(changes.at(-1)).toBe("thinking Thinking");
  // The answer to the first was in the gap; the second ends its own turn, and with it all.
  prompt(3);
  see("agent", { id: 3, result: { stopReason: "end_turn" } });
  expect(changes.at(-1)).toBe("idle Done");
});

test("who it is and what for, without secrets", () => {
  const { along, prompt } = reading();
  prompt(2);
  expect(along.presence(along.deriver.agent, 1)).toMatchObject({
    name: "gemini",
    workspace: "/srv/app",
    goal: expect.not.stringContaining("abc") as string,
  });
});
