import { expect, test } from "vitest";
import { TestClock } from "../../../../test/support/engine/fixture.ts";
import { Alarms } from "./alarms.ts";

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
