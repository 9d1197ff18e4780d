import { expect, test } from "vitest";
import { TestClock } from "../../test/support/engine/fixture.ts";
import { WaitingBytes, type Waiter, type WaitingLimits } from "./waiting.ts";

function ground(limits: Partial<WaitingLimits> = {}) {
  const clock = new TestClock();
  const waiting = new WaitingBytes({ bytes: 100, eachBytes: 80, ms: 1_000, ...limits }, clock);
  const cuts: string[] = [];
  const waiter = (name: string): Waiter => ({ cut: (reason) => cuts.push(`${name} ${reason}`) });
  return { clock, waiting, cuts, waiter };
}

test("bytes are counted while they wait, and not after", () => {
  const { waiting, waiter } = ground();
  const [a, b] = [waiter("a"), waiter("b")];
  waiting.hold(a, 10);
  waiting.hold(b, 20);
  waiting.hold(a, 5);
  expect([waiting.bytes, waiting.size]).toEqual([25, 2]);
  waiting.release(a);
  waiting.release(a);
  expect([waiting.bytes, waiting.size]).toEqual([20, 1]);
});

test("one that holds too much for one is cut", () => {
  const { waiting, cuts, waiter } = ground();
  waiting.hold(waiter("a"), 81);
  expect(cuts).toEqual(["a full"]);
  expect([waiting.bytes, waiting.cuts]).toEqual([0, 1]);
});

test("when all is full the oldest goes that holds the average at least, not the newcomer", () => {
  const { waiting, cuts, waiter } = ground();
  waiting.hold(waiter("slow reader of little"), 1);
  waiting.hold(waiter("attacker 1"), 45);
  waiting.hold(waiter("attacker 2"), 45);
  waiting.hold(waiter("honest"), 30);
  expect(cuts).toEqual(["attacker 1 full"]);
  expect(waiting.bytes).toBe(76);
});

test("one that waits too long is cut; one from which something is taken begins anew", async () => {
  const { clock, waiting, cuts, waiter } = ground();
  const [a, b, c] = [waiter("a"), waiter("b"), waiter("c")];
  waiting.hold(a, 10);
  waiting.hold(b, 10);
  await clock.advance(600);
  waiting.hold(c, 10);
  waiting.hold(a, 20);
  waiting.hold(b, 9);
  await clock.advance(400);
  expect(cuts).toEqual(["a late"]);
  await clock.advance(599);
  expect(cuts).toEqual(["a late"]);
  await clock.advance(1);
  expect(cuts).toEqual(["a late", "c late", "b late"]);
  expect(waiting.size).toBe(0);
});
