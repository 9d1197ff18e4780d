import { expect, test } from "vitest";
import { WATCH } from "../core/limits.ts";
import type { RecordedEvent } from "../core/events.ts";
import { Recent } from "./recent.ts";

function recorded(sequence: number, bytes = 10): RecordedEvent {
  const event = { type: "agent.forgotten", agentId: "a" } as const;
  return { sequence, atMs: 0, event, text: "x".repeat(bytes) };
}

function sequences(events: readonly RecordedEvent[]): number[] {
  return events.map(({ sequence }) => sequence);
}

test("it gives what came after a sequence, as much as is asked for", () => {
  const recent = new Recent();
  recent.push([recorded(5), recorded(6), recorded(7)]);
  expect(recent.first).toBe(5);
  expect(sequences(recent.after(4, 2))).toEqual([5, 6]);
  expect(sequences(recent.after(6, 10))).toEqual([7]);
});

test("it keeps no more events than it may, the newest", () => {
  const recent = new Recent();
  for (let i = 1; i <= 5 * WATCH.recentEvents; i += 1) recent.push([recorded(i)]);
  expect(recent.first).toBe(4 * WATCH.recentEvents + 1);
  expect(sequences(recent.after(recent.first - 1, 3))).toEqual([
    recent.first,
    recent.first + 1,
    recent.first + 2,
  ]);
});

test("it keeps no more bytes than it may, but always the last event", () => {
  const recent = new Recent();
  const half = WATCH.recentBytes / 2;
  recent.push([recorded(1, half), recorded(2, half), recorded(3, half)]);
  expect(recent.first).toBe(2);
  recent.push([recorded(4, 2 * WATCH.recentBytes)]);
  expect(recent.first).toBe(4);
});

test("what all near watchers have seen goes, but for the last few events", () => {
  const recent = new Recent();
  const last = 4 * WATCH.seenEvents;
  for (let i = 1; i <= last; i += 1) recent.push([recorded(i)]);
  recent.seen(7);
  expect(recent.first).toBe(8);
  expect(sequences(recent.after(9, 2))).toEqual([10, 11]);
  recent.seen(last);
  expect(recent.first).toBe(last - WATCH.seenEvents + 1);
  expect(sequences(recent.after(last - 2, 9))).toEqual([last - 1, last]);
});
