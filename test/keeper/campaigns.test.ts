import { expect, test } from "vitest";
import { codeOf } from "../../src/core/errors.ts";
import type { CampaignState } from "../../src/wires/keeper/client/campaign.ts";
import { TestClock } from "../support/engine/fixture.ts";
import { both, clientOf, daemonOf, lineTo, pass } from "./fixture.ts";

test("one leads, the other stands by, and takes over at once when the first resigns", async () => {
  const { keeper } = await both();
  const one = await keeper.register({ name: "one" });
  const two = await keeper.register({ name: "two" });
  const first = await one.campaign("g");
  const second = await two.campaign("g");
  expect(first).toMatchObject({ isLeader: true, leader: one.id, term: 1, group: "g" });
  expect(second).toMatchObject({ isLeader: false, leader: one.id, term: 1 });
  const leading = await first.elected();
  expect(leading.term).toBe(1);
  const taking = second.elected();
  await first.resign();
  expect(leading.signal.aborted).toBe(true);
  expect(first.isLeader).toBe(false);
  const { term, signal } = await taking;
  expect(term).toBe(2);
  expect(signal.aborted).toBe(false);
  expect(second).toMatchObject({ isLeader: true, leader: two.id, term: 2 });
});

test("changes tell who leads, from now on and as it changes", async () => {
  const { keeper } = await both();
  const one = await keeper.register({ name: "one" });
  const two = await keeper.register({ name: "two" });
  await one.campaign("g");
  const standby = await two.campaign("g");
  const seen: CampaignState[] = [];
  for await (const state of standby.changes()) {
    seen.push(state);
    if (state.isLeader) break;
    await one.close();
  }
  expect(seen.map(({ leader, term, isLeader }) => [leader, term, isLeader])).toEqual([
    [one.id, 1, false],
    [two.id, 2, true],
  ]);
});

test("a leader that loses touch stops before another is elected, and stands again", async () => {
  const clock = new TestClock();
  const daemon = await daemonOf({ clock });
  const line = await lineTo(daemon.grpcAddress);
  const near = clientOf(line.address, { clock, random: () => 0.5 });
  const far = clientOf(daemon.grpcAddress, { clock, random: () => 0.5 });
  const one = await near.register({ name: "one", ttlMs: 6_000 });
  const two = await far.register({ name: "two", ttlMs: 6_000 });
  const first = await one.campaign("g");
  const second = await two.campaign("g");
  const { signal } = await first.elected();
  const at = { lost: 0, taken: 0 };
  signal.addEventListener("abort", () => (at.lost = clock.monotonicMs()));
  line.freeze();
  while (!second.isLeader) {
    await pass(clock, far, 500);
    expect(clock.monotonicMs()).toBeLessThan(60_000);
  }
  at.taken = clock.monotonicMs();
  expect(at.lost).toBeGreaterThan(0);
  expect(at.taken - at.lost).toBeGreaterThan(0);
  expect(codeOf(signal.reason)).toBe("NOT_HOLDER");
  expect(first.isLeader).toBe(false);

  line.thaw();
  await pass(clock, far, 5_000);
  await two.close();
  await pass(clock, far, 1_000);
  expect([first.isLeader, first.leader]).toEqual([true, one.id]);
  expect(first.term).toBeGreaterThan(2);
});

test("a leader that loses touch for a while leads again when nobody else was elected", async () => {
  const clock = new TestClock();
  const daemon = await daemonOf({ clock });
  const line = await lineTo(daemon.grpcAddress);
  const far = clientOf(daemon.grpcAddress, { clock });
  const one = await clientOf(line.address, { clock, random: () => 0.5 }).register({
    name: "one",
    ttlMs: 6_000,
  });
  const campaign = await one.campaign("g");
  const before = await campaign.elected();
  line.freeze();
  await pass(clock, far, 7_000);
  expect(before.signal.aborted).toBe(true);
  line.thaw();
  await pass(clock, far, 3_000);
  const after = await campaign.elected();
  expect(after).toMatchObject({ term: before.term, signal: { aborted: false } });
});

test("who waits to be elected is told when the campaign ends", async () => {
  const { keeper } = await both();
  const one = await keeper.register({ name: "one" });
  const two = await keeper.register({ name: "two" });
  await one.campaign("g");
  const standby = await two.campaign("g");
  const waiting = standby.elected().catch((error: unknown) => error);
  await standby.close();
  expect(codeOf(await waiting)).toBe("CANCELLED");
});
