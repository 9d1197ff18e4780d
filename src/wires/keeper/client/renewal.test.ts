import { expect, test } from "vitest";
import { RollcallError } from "../../../core/errors.ts";
import { markOf } from "../../../core/clock.ts";
import { TestClock } from "../../../../test/support/engine/fixture.ts";
import { Renewal, type RenewalOptions } from "./renewal.ts";

/** A renewal with a ttl of 9 s, unless the test sets another. */
function kept(options: Partial<RenewalOptions> = {}, clock = new TestClock()) {
  const heard: string[] = [];
  const renewal = new Renewal({
    clock,
    random: () => 0.5,
    ttlMs: 9_000,
    since: markOf(clock),
    refusals: ["NOT_HOLDER"],
    renew: async () => void heard.push(`renewed at ${clock.monotonicMs()}`),
    onDoubt: () => heard.push(`doubt at ${clock.monotonicMs()}`),
    onProof: () => heard.push(`proof at ${clock.monotonicMs()}`),
    onRefusal: ({ code }) => heard.push(`${code} at ${clock.monotonicMs()}`),
    ...options,
  });
  return { clock, heard, renewal };
}

test("it is said again at a third of the ttl, so that two may be lost", async () => {
  const { clock, heard, renewal } = kept();
  await clock.advance(9_500);
  expect(heard).toEqual(["renewed at 3000", "renewed at 6000", "renewed at 9000"]);
  expect(renewal.isProven).toBe(true);
  renewal.stop();
  await clock.advance(60_000);
  expect(heard).toHaveLength(3);
  expect(clock.timers).toBe(0);
});

test("the wait is spread by 15 % to either side", async () => {
  for (const [random, atMs] of [
    [0, 2_550],
    [1, 3_450],
  ] as const) {
    const { clock, heard, renewal } = kept({ random: () => random });
    await clock.advance(3_500);
    expect(heard).toHaveLength(1);
    expect(Number(heard[0]?.split(" ").at(-1))).toBeCloseTo(atMs);
    renewal.stop();
  }
});

test("time counts from before the question, not from the answer, and less a margin", async () => {
  let answer = (): void => undefined;
  const { clock, heard, renewal } = kept({
    renew: () => new Promise((resolve) => (answer = resolve)),
  });
  await clock.advance(3_000);
  await clock.advance(2_000);
  answer();
  await clock.advance(3_000);
  expect(renewal.leftMs()).toBe(3_000 + 9_000 - 450 - 8_000);
  await clock.advance(3_550);
  expect(heard).toEqual(["doubt at 11550"]);
  renewal.stop();
});

test("what fails is tried again soon, and doubt ends when one gets through", async () => {
  let isAway = true;
  const tried: number[] = [];
  const { clock, heard, renewal } = kept({
    renew: async () => {
      tried.push(clock.monotonicMs());
      if (isAway) throw new RollcallError("UNAVAILABLE", "away");
    },
  });
  await clock.advance(8_600);
  expect(heard).toEqual(["doubt at 8550"]);
  expect(tried.slice(0, 3)).toEqual([3_000, 3_900, 4_800]);
  isAway = false;
  await clock.advance(1_000);
  expect(heard[1]).toMatch(/^proof at/);
  expect(renewal.isProven).toBe(true);
  renewal.stop();
});

test("a refusal ends it; another error does not", async () => {
  const codes = ["PERMISSION_DENIED", "NOT_HOLDER"] as const;
  let at = 0;
  const { clock, heard } = kept({
    renew: async () => {
      const code = codes[at] ?? "NOT_HOLDER";
      at += 1;
      throw new RollcallError(code, "no");
    },
  });
  await clock.advance(8_000);
  expect(heard).toEqual(["NOT_HOLDER at 3900"]);
  expect(clock.timers).toBe(0);
});

test("it lasts no longer than what it hangs on", async () => {
  const clock = new TestClock();
  const { heard, renewal } = kept({ alsoLeftMs: () => 4_000 - clock.monotonicMs() }, clock);
  await clock.advance(5_000);
  expect(heard).toEqual(["renewed at 3000", "doubt at 4000"]);
  renewal.stop();
});

test("a machine that slept knows it within a second of waking", async () => {
  const { clock, heard, renewal } = kept();
  await clock.advance(500);
  clock.stepWall(3_600_000);
  expect(renewal.isProven).toBe(false);
  await clock.advance(1_000);
  expect(heard).toEqual(["doubt at 1000"]);
  renewal.stop();
});
