import { expect, test } from "vitest";
import { EngineTime } from "./clock.ts";
import { DAY, MINUTE } from "./units.ts";
import { START_MS, TestClock } from "../../test/support/engine/fixture.ts";

test("time goes on evenly while the clock on the wall is set back", async () => {
  const clock = new TestClock();
  const time = new EngineTime(clock);
  clock.stepWall(-3600_000);
  await clock.advance(500);
  expect(time.nowMs()).toBe(START_MS + 500);
});

test("time jumps forward with the wall, and not for a small correction", async () => {
  const clock = new TestClock();
  const time = new EngineTime(clock);
  clock.stepWall(900);
  expect(time.nowMs()).toBe(START_MS);
  clock.stepWall(3600_000);
  expect(time.nowMs()).toBe(START_MS + 3600_900);
});

test("a step of more than a day counts once it has lasted for ten minutes", async () => {
  const clock = new TestClock();
  const time = new EngineTime(clock);
  clock.stepWall(40 * DAY);
  expect(time.nowMs()).toBe(START_MS);
  await clock.advance(3_000);
  clock.stepWall(-40 * DAY);
  expect(time.nowMs()).toBe(START_MS + 3_000);
  clock.stepWall(40 * DAY);
  expect(time.nowMs()).toBe(START_MS + 3_000);
  await clock.advance(10 * MINUTE - 1);
  expect(time.nowMs()).toBe(START_MS + 3_000 + 10 * MINUTE - 1);
  expect(time.takeStepped()).toBe(0);
  await clock.advance(1);
  expect(time.nowMs()).toBe(START_MS + 3_000 + 10 * MINUTE + 40 * DAY);
  expect(time.takeStepped()).toBe(40 * DAY);
  expect(time.takeStepped()).toBe(0);
});

test("time goes on from what the log says when this machine's wall is behind it", async () => {
  const clock = new TestClock();
  const time = new EngineTime(clock);
  time.catchUp(START_MS + 5000);
  expect(time.nowMs()).toBe(START_MS + 5000);
  await clock.advance(10);
  expect(time.nowMs()).toBe(START_MS + 5010);
});
