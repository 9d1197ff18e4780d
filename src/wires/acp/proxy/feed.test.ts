import { expect, test } from "vitest";
import { TestClock } from "../../../../test/support/engine/fixture.ts";
import type { FrameSender } from "../derive/frames.ts";
import { Feed, newSeenBytes } from "./feed.ts";
import { FEED } from "./limits.ts";

function feeding(waitingBytes: number) {
  const seen = newSeenBytes();
  const clock = new TestClock();
  const posted: string[] = [];
  const feed = new Feed({
    seen,
    clock,
    waitingBytes,
    post: (messages) => {
      for (const message of messages) {
        if (message.kind === "lost") posted.push(`${message.sender} lost`);
        if (message.kind !== "bytes") continue;
        const text = Buffer.from(message.chunk).toString();
        posted.push(`${message.sender} ${message.isBroken ? "…" : ""}${text.trimEnd()}`);
      }
    },
  });
  const note = (sender: FrameSender, text: string) => {
    feed.note(sender, Buffer.from(text));
    feed.flush();
  };
  return {
    feed,
    posted,
    clock,
    note,
    look: (bytes: number) => Atomics.add(seen, 0, BigInt(bytes)),
  };
}

test("hands over what both sides said, in its order", () => {
  const { posted, note } = feeding(100);
  note("client", "one\n");
  note("agent", "two\n");
  expect(posted).toEqual(["client one", "agent two"]);
});

test("passes over what is too much, says so at once, and begins anew after a rest", async () => {
  const { posted, note, look, clock } = feeding(8);
  note("agent", "first\n");
  note("agent", "second\n");
  note("agent", "third\nhalf of a");
  expect(posted).toEqual(["agent first", "agent lost"]);
  look(3);
  note("agent", "b");
  expect(posted).toHaveLength(2);
  look(3);
  note("agent", "c");
  expect(posted).toHaveLength(2);
  await clock.advance(FEED.restMs);
  note("agent", " line\n");
  note("agent", "\n");
  expect(posted.slice(2)).toEqual(["agent … line", "agent "]);
});

test("a gap of one side is none of the other", () => {
  const { posted, note } = feeding(10);
  note("agent", "first\n");
  note("agent", "second\n");
  note("client", "ok\n");
  expect(posted).toEqual(["agent first", "agent lost", "client ok"]);
});

test("only who has looked at everything knows everything", () => {
  const { feed, note } = feeding(8);
  expect(feed.isAll(0)).toBe(true);
  note("agent", "first\n");
  expect(feed.isAll(0)).toBe(false);
  expect(feed.isAll(6)).toBe(true);
  note("agent", "second\n");
  expect(feed.isAll(6)).toBe(false);
});

test("what comes within a few milliseconds goes in one message, and much at once", async () => {
  const clock = new TestClock();
  const counts: number[] = [];
  const post = (messages: readonly unknown[]) => counts.push(messages.length);
  const feed = new Feed({ seen: newSeenBytes(), clock, post });
  feed.note("client", Buffer.from("one\n"));
  feed.note("agent", Buffer.from("two\n"));
  expect(counts).toEqual([]);
  expect(feed.isAll(0)).toBe(false);
  await clock.advance(FEED.batchMs);
  expect(counts).toEqual([2]);
  feed.note("agent", Buffer.alloc(FEED.batchBytes));
  expect(counts).toEqual([2, 1]);
  expect(clock.timers).toBe(0);
});
