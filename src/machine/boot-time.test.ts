import { expect, test } from "vitest";
import { BootTime } from "./boot-time.ts";

const HOUR_MS = 3_600_000;

function machine() {
  const now = { wallMs: 10 * HOUR_MS, monotonicMs: 60_000, bootedAtMs: 9 * HOUR_MS, reads: 0 };
  const boot = new BootTime({
    wallMs: () => now.wallMs,
    monotonicMs: () => now.monotonicMs,
    bootedAtMs() {
      now.reads += 1;
      return now.bootedAtMs;
    },
  });
  /** The system tells its own start by the clock as it is set. */
  const setClock = (byMs: number) => {
    now.wallMs += byMs;
    now.bootedAtMs += byMs;
  };
  return { now, boot, setClock };
}

test("a clock that is set back takes the start of the machine with it", () => {
  const { boot, setClock } = machine();
  expect(boot.atMs()).toBe(9 * HOUR_MS);
  setClock(-2 * HOUR_MS);
  expect(boot.atMs()).toBe(7 * HOUR_MS);
});

test("a clock that is put forward leaves processes older than what they wrote before", () => {
  const { boot, setClock } = machine();
  expect(boot.atMs()).toBe(9 * HOUR_MS);
  setClock(2 * HOUR_MS);
  expect(boot.atMs()).toBe(9 * HOUR_MS);
});

test("the system is asked once while no clock steps, and once after a machine slept", () => {
  const { now, boot } = machine();
  for (let second = 0; second < 10; second += 1) {
    boot.atMs();
    now.wallMs += 1000;
    now.monotonicMs += 1000 + second / 10;
  }
  expect(now.reads).toBe(1);
  now.wallMs += HOUR_MS;
  expect([boot.atMs(), boot.atMs(), now.reads]).toEqual([9 * HOUR_MS, 9 * HOUR_MS, 2]);
});
