import { expect, test } from "vitest";
import { LATENESS } from "../core/limits.ts";
import { Lateness } from "./lateness.ts";

const TICK_MS = 400;

function after(...gapsMs: readonly number[]): number {
  const lateness = new Lateness(TICK_MS);
  for (const gapMs of gapsMs) lateness.heard(gapMs);
  return lateness.patienceMs;
}

test("signs in time ask for no patience, and one late sign is an accident", () => {
  expect(after()).toBe(0);
  expect(after(200, 399, 400)).toBe(0);
  expect(after(200, 5000, 210, 190)).toBe(0);
});

test("patience is ten times how late signs usually are, up to a bound", () => {
  expect(after(450, 500, 300, 460)).toBe(600);
  expect(after(3000, 9000, 2000)).toBe(LATENESS.mostMs);
});

test("what was long ago is forgotten", () => {
  const inTime = Array.from({ length: LATENESS.signs - 2 }, () => 200);
  expect(after(900, 900, ...inTime)).toBe(5000);
  expect(after(900, 900, ...inTime, 200, 200)).toBe(0);
});
