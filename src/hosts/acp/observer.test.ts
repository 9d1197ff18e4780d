import { describe, expect, test, vi } from "vitest";
import { TestClock } from "../../engine/testing.ts";
import { Observer, type Onlooker, type Side } from "./observer.ts";

function watched(onlooker: Partial<Onlooker> = {}, queueBytes?: number) {
  const seen: string[] = [];
  const onError = vi.fn();
  const observer = new Observer({
    clock: new TestClock(),
    onError,
    ...(queueBytes !== undefined && { queueBytes }),
    onlooker: {
      look: (side, { bytes }) => seen.push(`${side}: ${bytes.toString()}`),
      lost: (side) => seen.push(`${side} lost`),
      settled: () => seen.push("settled"),
      ...onlooker,
    },
  });
  const note = (side: Side, text: string) => observer.note(side, Buffer.from(text));
  return { observer, seen, onError, note };
}

describe("an observer", () => {
  test("sees the lines of both sides in the order in which they went by", async () => {
    const { seen, note } = watched();
    note("client", "one\n");
    note("agent", "two\nthr");
    note("agent", "ee\n");
    await vi.waitFor(() => {
      expect(seen).toEqual(["client: one", "agent: two", "agent: three", "settled"]);
    });
  });

  test("never works while bytes are being forwarded, only afterwards", () => {
    const { observer, seen, note } = watched();
    note("agent", "one\n");
    expect(seen).toEqual([]);
    expect(observer.isUpToDate).toBe(false);
    observer.close();
    expect(seen).toEqual(["agent: one", "settled"]);
  });

  test("passes over what is too much, says so, and goes on with the next whole line", async () => {
    const { seen, note } = watched({}, 12);
    note("agent", "12345678\n");
    note("agent", "lost\nlost be");
    note("agent", "ginning\n");
    await vi.waitFor(() => expect(seen).toEqual(["agent: 12345678", "settled"]));
    note("agent", "rest\nnew\n");
    await vi.waitFor(() => expect(seen.slice(2)).toEqual(["agent lost", "agent: new", "settled"]));
  });

  test("a gap of one side is none of the other", async () => {
    const { seen, note } = watched({}, 12);
    note("agent", "12345678\n");
    note("agent", "lost\n");
    note("client", "ok\n");
    await vi.waitFor(() => expect(seen).toEqual(["agent: 12345678", "client: ok", "settled"]));
  });

  test("one that throws is told of once, and then sees nothing more", async () => {
    const look = vi.fn(() => {
      throw new Error("a frame nobody thought of");
    });
    const { observer, onError, note } = watched({ look });
    note("agent", "one\ntwo\n");
    await vi.waitFor(() => expect(onError).toHaveBeenCalledTimes(1));
    note("agent", "three\n");
    observer.close();
    expect(look).toHaveBeenCalledTimes(1);
    expect(onError).toHaveBeenCalledTimes(1);
  });

  test("at the end what has no newline is looked at as well", () => {
    const { observer, seen, note } = watched();
    note("agent", "whole\ntail");
    observer.close();
    observer.close();
    expect(seen).toEqual(["agent: whole", "agent: tail", "settled"]);
  });
});
