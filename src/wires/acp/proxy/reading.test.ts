import { describe, expect, test, vi } from "vitest";
import { TestClock } from "../../../../test/support/engine/fixture.ts";
import type { FrameSender } from "../derive/frames.ts";
import { INSPECT } from "../derive/limits.ts";
import { ProxyReader } from "./reading.ts";

function reading() {
  const clock = new TestClock();
  const changes: string[] = [];
  const shown: string[] = [];
  const along = new ProxyReader({
    clock,
    name: "agent",
    onError: vi.fn(),
    onChange: ({ sessionId, status, message }) => {
      if (sessionId !== null) changes.push(`${status} ${message}`);
    },
    onShow: ({ sessionId, status, message, stalled }) => {
      if (sessionId !== null) shown.push(`${status} ${message}${stalled ? " stalled" : ""}`);
    },
  });
  const see = (sender: "client" | "agent", ...values: readonly object[]) => {
    for (const value of values) {
      along.take(sender, Buffer.from(`${JSON.stringify({ jsonrpc: "2.0", ...value })}\n`));
    }
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
  await along.close();
  expect(clock.timers).toBe(0);
});

test("after a gap, what was open is in doubt until the next prompt says more", () => {
  const { along, changes, see, update, prompt } = reading();
  prompt(2);
  update(TOOL);
  along.lost("agent");
  expect(changes.at(-1)).toBe("thinking Thinking");
  // The answer to the first was in the gap; the second ends its own turn, and with it all.
  prompt(3);
  see("agent", { id: 3, result: { stopReason: "end_turn" } });
  expect(changes.at(-1)).toBe("idle Done");
});

describe("after a gap in which the answer to a load went by,", () => {
  const ASK = {
    method: "session/request_permission",
    params: { sessionId: "S", toolCall: { toolCallId: "t", title: "Run make" }, options: [] },
  };

  function loading() {
    const session = reading();
    const params = { sessionId: "S", cwd: "/srv/app" };
    session.see("client", { id: 2, method: "session/load", params });
    session.along.lost("agent");
    expect(session.changes.at(-1)).toBe("idle Loading history");
    return session;
  }

  test("a prompt is a turn, and a question in it is told", () => {
    const { changes, see, update, prompt } = loading();
    prompt(3);
    update(TOOL);
    expect(changes.at(-1)).toBe("reading Read a");
    see("agent", { id: 4, ...ASK });
    expect(changes.at(-1)).toMatch(/^waiting /);
    see("client", { id: 4, result: { outcome: { outcome: "cancelled" } } });
    see("agent", { id: 3, result: { stopReason: "end_turn" } });
    expect(changes.at(-1)).toBe("idle Done");
  });

  test("a question is told, though its prompt went by, too", () => {
    const { changes, see } = loading();
    see("agent", { id: 4, ...ASK });
    expect(changes.at(-1)).toMatch(/^waiting /);
  });

  test("what comes is history until then, and the answer ends it if it still comes", () => {
    const { changes, see, update, prompt } = loading();
    update(TOOL);
    expect(changes.at(-1)).toBe("idle Loading history");
    see("agent", { id: 2, result: {} });
    expect(changes.at(-1)).toBe("idle null");
    prompt(3);
    expect(changes.at(-1)).toBe("thinking Thinking");
  });
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

describe("of bytes", () => {
  /** A notification, named so that a test reads like a list. */
  const frame = (method: string) => `${JSON.stringify({ jsonrpc: "2.0", method })}\n`;

  function watched(look?: () => void) {
    const seen: string[] = [];
    const onError = vi.fn();
    const along = new ProxyReader({
      clock: new TestClock(),
      name: "agent",
      onError,
      onFrame: (sender, each) => {
        look?.();
        if ("method" in each) seen.push(`${sender}: ${each.method}`);
      },
    });
    const take = (sender: FrameSender, text: string, isBroken = false) => {
      along.take(sender, Buffer.from(text), isBroken);
    };
    return { along, seen, onError, take };
  }

  test("frames of both sides are seen in the order in which they went by", () => {
    const { seen, take } = watched();
    const three = frame("three");
    take("client", frame("one"));
    take("agent", frame("two") + three.slice(0, 9));
    take("client", frame("between"));
    take("agent", three.slice(9));
    expect(seen).toEqual(["client: one", "agent: two", "client: between", "agent: three"]);
  });

  test("what is no frame is passed over: noise, blank lines, broken JSON, arrays", () => {
    const { seen, take } = watched();
    take("agent", "Loading...\r\n\n{\n[1]\n\xff\n" + frame("one"));
    expect(seen).toEqual(["agent: one"]);
  });

  test("after a gap it goes on with the next whole line", () => {
    const { along, seen, take } = watched();
    take("agent", frame("one") + "half of a li");
    along.lost("agent");
    take("agent", 'the end of another"}', true);
    take("agent", ` and more\n${frame("two")}`);
    expect(seen).toEqual(["agent: one", "agent: two"]);
  });

  test("what was not read is counted: a line that is too long, and a gap", () => {
    const { along, seen, take } = watched();
    const unread = () => along.presence(along.deriver.agent, 1).unreadFrames;
    take("agent", `${"x".repeat(INSPECT.lineBytes + 1)}\n${frame("one")}`);
    expect(unread()).toBe(1);
    along.lost("client");
    expect([unread(), seen]).toEqual([2, ["agent: one"]]);
  });

  test("a fault is told of once, and then nothing more is looked at", () => {
    const look = vi.fn(() => {
      throw new Error("a frame nobody thought of");
    });
    const { onError, take } = watched(look);
    take("agent", frame("one") + frame("two"));
    take("agent", frame("three"));
    expect(look).toHaveBeenCalledTimes(1);
    expect(onError).toHaveBeenCalledTimes(1);
  });

  test("at the end what has no newline is looked at as well", () => {
    const { along, seen, take } = watched();
    take("agent", frame("whole") + frame("tail").trimEnd());
    along.ended({ code: 0, signal: null });
    take("agent", frame("too late"));
    expect(seen).toEqual(["agent: whole", "agent: tail"]);
  });
});
