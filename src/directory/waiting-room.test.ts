import { expect, test } from "vitest";
import { TestClock } from "../../test/support/engine/fixture.ts";
import { WAITING } from "./limits.ts";
import { WaitingRoom } from "./waiting-room.ts";

const HANGS = new Promise<never>(() => undefined);

/** A room in which time is moved by hand, and how many of its callers were let go. */
function room(fetchTimeoutMs = 60_000) {
  const clock = new TestClock();
  const waiting = new WaitingRoom({ clock, fetchTimeoutMs });
  const gone = { count: 0 };
  const wait = (work: Promise<unknown> = HANGS) =>
    void waiting.wait(work).finally(() => (gone.count += 1));
  return { clock, gone, wait };
}

test("a caller goes when the work is done, whether it came to something or not", async () => {
  const { clock, gone, wait } = room();
  wait(Promise.resolve());
  await clock.advance(0);
  expect([gone.count, clock.timers]).toEqual([1, 0]);
});

test("a caller waits as long as the fetch may take, no longer than clients listen", async () => {
  const short = room(3_000);
  short.wait();
  await short.clock.advance(2_999);
  expect(short.gone.count).toBe(0);
  await short.clock.advance(1);
  expect(short.gone.count).toBe(1);

  const long = room(30_000);
  long.wait();
  await long.clock.advance(WAITING.longestMs);
  expect(long.gone.count).toBe(1);
});

test("callers beyond the most that may wait go after a moment, until one has left", async () => {
  const { clock, gone, wait } = room();
  let finish: () => void = () => undefined;
  wait(new Promise<void>((resolve) => (finish = resolve)));
  for (let i = 1; i < WAITING.most; i += 1) wait();
  for (let i = 0; i < 1_000; i += 1) wait();
  await clock.advance(WAITING.shortMs - 1);
  expect(gone.count).toBe(0);
  await clock.advance(1);
  expect(gone.count).toBe(1_000);

  finish();
  await clock.advance(0);
  wait();
  await clock.advance(WAITING.shortMs);
  expect(gone.count).toBe(1_001);
  await clock.advance(WAITING.longestMs);
  expect(gone.count).toBe(1_001 + WAITING.most);
});
