import { describe, expect, test, vi } from "vitest";
import { TestClock } from "../../engine/testing.ts";
import type { Sender } from "../../wires/acp/frames.ts";
import { Observer, type Onlooker } from "./observer.ts";

/** A notification, named so that a test reads like a list. */
const frame = (method: string) => `${JSON.stringify({ jsonrpc: "2.0", method })}\n`;

function watched(onlooker: Partial<Onlooker> = {}, queueBytes?: number) {
  const seen: string[] = [];
  const onError = vi.fn();
  const observer = new Observer({
    clock: new TestClock(),
    now: () => 0,
    onError,
    ...(queueBytes !== undefined && { queueBytes }),
    onlooker: {
      look: (sender, seenFrame) => {
        if ("method" in seenFrame) seen.push(`${sender}: ${seenFrame.method}`);
      },
      lost: (sender) => seen.push(`${sender} lost`),
      settled: () => seen.push("settled"),
      ...onlooker,
    },
  });
  const note = (sender: Sender, text: string) => observer.note(sender, Buffer.from(text));
  return { observer, seen, onError, note };
}

describe("an observer", () => {
  test("sees the frames of both sides in the order in which they went by", async () => {
    const { seen, note } = watched();
    const three = frame("three");
    note("client", frame("one"));
    note("agent", frame("two") + three.slice(0, 9));
    note("agent", three.slice(9));
    await vi.waitFor(() => {
      expect(seen).toEqual(["client: one", "agent: two", "agent: three", "settled"]);
    });
  });

  test("passes over what is no frame: noise, blank lines, broken JSON, arrays", () => {
    const { observer, seen, note } = watched();
    note("agent", "Loading...\r\n\n{\n[1]\n\xff\n" + frame("one"));
    observer.close();
    expect(seen).toEqual(["agent: one", "settled"]);
  });

  test("never works while bytes are being forwarded, only afterwards", () => {
    const { observer, seen, note } = watched();
    note("agent", frame("one"));
    expect(seen).toEqual([]);
    expect(observer.isUpToDate).toBe(false);
    observer.close();
    expect(seen).toEqual(["agent: one", "settled"]);
  });

  test("is not up to date while frames of the same chunk are still to come", () => {
    const upToDate: boolean[] = [];
    const { observer, note } = watched({ look: () => upToDate.push(observer.isUpToDate) });
    note("agent", frame("changed") + frame("the turn ended"));
    observer.close();
    expect(upToDate).toEqual([false, false]);
  });

  test("passes over what is too much, says so, and goes on with the next whole line", async () => {
    const { observer, seen, note } = watched({}, 60);
    note("agent", frame("first"));
    note("agent", frame("lost") + frame("as well").slice(0, 20));
    expect(observer.isUpToDate).toBe(false);
    // Nothing more may come, so it is told at once.
    await vi.waitFor(() => expect(seen).toEqual(["agent: first", "agent lost", "settled"]));
    note("agent", frame("as well").slice(20) + frame("new"));
    await vi.waitFor(() => expect(seen.slice(3)).toEqual(["agent: new", "settled"]));
    expect(observer.isUpToDate).toBe(true);
  });

  test("a gap of one side is none of the other", async () => {
    const { seen, note } = watched({}, 75);
    note("agent", frame("first"));
    note("agent", frame("lost".repeat(10)));
    note("client", frame("ok"));
    const after = ["agent: first", "client: ok", "agent lost", "settled"];
    await vi.waitFor(() => expect(seen).toEqual(after));
    // Whole lines are missing: the next one is whole.
    note("agent", frame("next"));
    await vi.waitFor(() => expect(seen.slice(4)).toEqual(["agent: next", "settled"]));
  });

  test("one that throws is told of once, and then sees nothing more", async () => {
    const look = vi.fn(() => {
      throw new Error("a frame nobody thought of");
    });
    const { observer, onError, note } = watched({ look });
    note("agent", frame("one") + frame("two"));
    await vi.waitFor(() => expect(onError).toHaveBeenCalledTimes(1));
    note("agent", frame("three"));
    observer.close();
    expect(look).toHaveBeenCalledTimes(1);
    expect(onError).toHaveBeenCalledTimes(1);
  });

  test("at the end what has no newline is looked at as well", () => {
    const { observer, seen, note } = watched();
    note("agent", frame("whole") + frame("tail").trimEnd());
    observer.close();
    observer.close();
    expect(seen).toEqual(["agent: whole", "agent: tail", "settled"]);
  });
});
