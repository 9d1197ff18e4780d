/** The small parts of the job service. */
import { expect, test } from "vitest";
import { TestClock } from "../../test/support/engine/fixture.ts";
import { Agents } from "./agents.ts";
import { Alarms } from "./alarms.ts";
import { fingerprint } from "./fingerprint.ts";
import { SPANS } from "./limits.ts";
import { Slots } from "./slots.ts";
import { Spans } from "./spans.ts";
import { newTraceId } from "./trace-id.ts";

test("a thousand alarms are one timer; each rings once, and when it should", async () => {
  const clock = new TestClock();
  const alarms = new Alarms(clock);
  const rung: number[] = [];
  const set = Array.from({ length: 1000 }, (_, i) => {
    return alarms.set(1000 - i, { onAlarm: () => rung.push(1000 - i) });
  });
  expect(clock.timers).toBe(1);
  alarms.cancel(set[0]);
  const last = set[999];
  if (last) alarms.move(last, 5_000);
  await clock.advance(1_000);
  expect(rung).toEqual(Array.from({ length: 998 }, (_, i) => i + 2));
  await clock.advance(4_000);
  expect(rung.at(-1)).toBe(1);
  expect(clock.timers).toBe(0);
  alarms.set(9_000, { onAlarm: () => undefined });
  alarms.close();
  expect(clock.timers).toBe(0);
});

test("the pieces of a job stay few, in order, and cover every place it was given", () => {
  const spans = new Spans();
  const places: number[] = [];
  let at = 0;
  for (let i = 0; i < 5_000; i += 1) {
    at += 1 + ((i * i) % 17 === 0 ? (i % 50) + 1 : 0);
    places.push(at);
    spans.add(at);
  }
  const { pieces } = spans;
  expect(pieces.length).toBeLessThanOrEqual(SPANS.perJob);
  expect(pieces.flat()).toEqual(pieces.flat().toSorted((a, b) => a - b));
  const isCovered = (place: number) =>
    pieces.some(([first, last]) => first <= place && place <= last);
  expect(places.every(isCovered)).toBe(true);
  expect([spans.first, spans.last]).toEqual([places[0], places.at(-1)]);
});

test("a slot that comes free goes to the lines in turn, and none is given twice", () => {
  const slots = new Slots<string>({ running: 2, runningPerPrincipal: 2, queuedPerPrincipal: 3 });
  for (let i = 0; i < 2; i += 1) {
    expect(slots.hasRoom("a")).toBe(true);
    slots.take("a");
  }
  for (const who of ["a1", "a2", "a3"]) {
    expect(slots.hasRoom("a")).toBe(false);
    slots.wait("a", who);
  }
  expect(() => slots.hasRoom("a")).toThrow(/wait already/);
  slots.wait("b", "b1");
  slots.leaveLine("a", "a2");
  expect([slots.free("a"), slots.free("a"), slots.free("a"), slots.free("b")]).toEqual([
    "a1",
    "b1",
    "a3",
    undefined,
  ]);
});

test("an agent without versions is one by its bare name; one that left is not found", () => {
  const agents = new Agents();
  agents.register("plain", () => 1);
  agents.register("both", () => 1);
  agents.register("both", () => 2, { version: "2" });
  expect(agents.resolve("plain").ref).toBe("plain");
  expect(agents.resolve("both").ref).toBe("both");
  expect(agents.resolve("both@2").ref).toBe("both@2");
  expect(() => agents.resolve("plain@1")).toThrow(/no version/);
  expect(() => agents.resolve("../etc")).toThrow(/neither a name/);
  agents.unregister("plain");
  expect(() => agents.resolve("plain")).toThrow(/no agent plain/);
  expect(() => agents.register("bad name", () => 1)).toThrow(/no name of an agent/);
});

test("the order of keys makes no other parameters; their values do", () => {
  const one = fingerprint([{ a: 1, b: { c: [1, 2], d: null } }]);
  expect(fingerprint([{ b: { d: null, c: [1, 2] }, a: 1 }])).toBe(one);
  expect(fingerprint([{ b: { d: null, c: [2, 1] }, a: 1 }])).not.toBe(one);
  const proto = JSON.parse('{"__proto__":1}') as unknown;
  expect(fingerprint([proto])).not.toBe(fingerprint([{}]));
});

test("trace ids are 32 hex digits, never all zeros, and all different", () => {
  const ids = Array.from({ length: 2_000 }, newTraceId);
  expect(new Set(ids).size).toBe(2_000);
  expect(ids.every((id) => /^[0-9a-f]{32}$/.test(id) && !/^0+$/.test(id))).toBe(true);
});
