import { expect, test } from "vitest";
import { RATE } from "./limits.ts";
import { Rate } from "./rate.ts";

function limit(perSecond: number) {
  const clock = { nowMs: 0 };
  const all = new Rate(perSecond);
  /** How long to wait; 0 when one was taken. */
  const take = (who: string) => (all.take(who, clock.nowMs) ? 0 : all.waitMs(who, clock.nowMs));
  return { clock, rate: { take } };
}

test("a burst passes, then as many as the rate allows", () => {
  const { clock, rate } = limit(10);
  for (let i = 0; i < 10 * RATE.burstSeconds; i += 1) expect(rate.take("a")).toBe(0);
  expect(rate.take("a")).toBeCloseTo(100);
  clock.nowMs += 100;
  expect(rate.take("a")).toBe(0);
  expect(rate.take("a")).toBeGreaterThan(0);
});

test("one address does not use up the bucket of another", () => {
  const { rate } = limit(1);
  while (rate.take("a") === 0);
  expect(rate.take("b")).toBe(0);
});

test("a bucket never holds more than the burst", () => {
  const { clock, rate } = limit(1);
  rate.take("a");
  clock.nowMs += 3_600_000;
  let taken = 0;
  while (rate.take("a") === 0) taken += 1;
  expect(taken).toBe(RATE.burstSeconds);
});

test("zero is no limit", () => {
  const { rate } = limit(0);
  for (let i = 0; i < 1_000; i += 1) expect(rate.take("a")).toBe(0);
});

test("only so many addresses are remembered: the one seen first is forgotten", () => {
  const { rate } = limit(1);
  while (rate.take("first") === 0);
  for (let i = 0; i < RATE.callers; i += 1) rate.take(`peer-${i}`);
  expect(rate.take("first")).toBe(0);
});
