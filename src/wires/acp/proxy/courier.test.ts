import { expect, onTestFinished, test, vi } from "vitest";
import type { Report } from "../../../core/reports.ts";
import { openEngine, quiet, TestClock } from "../../../../test/support/engine/fixture.ts";
import { Fleet } from "../../../fleet/fleet.ts";
import { Courier } from "./courier.ts";
import { PUBLISHER } from "./limits.ts";
import { LIBRARY } from "../../../core/by.ts";

function report(name: string): Report {
  const liveness = { value: "alive", rule: "it runs" } as const;
  const facts = { name, liveness };
  return { alias: "acp:a", agentId: "a", links: [], order: 1, reportedAtMs: 1, facts };
}

function couriering(isUp = true) {
  const clock = new TestClock();
  const daemon = { isUp };
  const taken: string[] = [];
  const deliver = vi.fn(async (each: Report) => {
    await Promise.resolve();
    if (!daemon.isUp) throw new Error("no daemon");
    taken.push(each.facts.name ?? "");
  });
  return { courier: new Courier({ deliver, clock }), clock, daemon, deliver, taken };
}

test("what is said while another is under way goes next, and only the newest of it", async () => {
  const { courier, taken } = couriering();
  courier.send(report("one"));
  courier.send(report("two"));
  courier.send(report("three"));
  await quiet();
  expect(taken).toEqual(["one", "three"]);
});

test("a daemon that comes later is told what is so then", async () => {
  const { courier, clock, daemon, deliver, taken } = couriering(false);
  courier.send(report("one"));
  await quiet();
  courier.send(report("two"));
  await clock.advance(PUBLISHER.retryMs);
  expect(deliver).toHaveBeenCalledTimes(2);
  daemon.isUp = true;
  await clock.advance(2 * PUBLISHER.retryMs);
  expect(taken).toEqual(["two"]);
});

test("without a daemon it asks less and less often, and never more than every 15 s", async () => {
  const { courier, clock, deliver } = couriering(false);
  courier.send(report("one"));
  await clock.advance(3_600_000);
  const calls = deliver.mock.calls.length;
  expect(calls).toBeGreaterThan(3_600_000 / PUBLISHER.retryMostMs - 2);
  expect(calls).toBeLessThan(3_600_000 / PUBLISHER.retryMostMs + 6);
  await courier.close();
  expect(clock.timers).toBe(0);
});

test("another daemon in the place of the first learns of it by itself", async () => {
  const { courier, clock, taken } = couriering();
  courier.send(report("one"));
  await clock.advance(PUBLISHER.repeatMs);
  expect(taken).toEqual(["one", "one"]);
});

test("the last word is for a daemon that knows it; nobody else is called", async () => {
  const known = couriering();
  known.courier.send(report("one"));
  await quiet();
  await known.courier.close(report("gone"));
  known.courier.send(report("too late"));
  await known.courier.close(report("again"));
  expect(known.taken).toEqual(["one", "gone"]);
  const stranger = couriering(false);
  stranger.courier.send(report("one"));
  await quiet();
  await stranger.courier.close(report("gone"));
  expect(stranger.deliver).toHaveBeenCalledTimes(1);
});

test("who falls silent is stale for the fleet, and who repeats itself is not", async () => {
  const { engine, clock } = await openEngine();
  const fleet = new Fleet({ engine, clock });
  onTestFinished(() => engine.close());
  onTestFinished(() => fleet.close());
  const deliver = (each: Report) => fleet.report({ ...each, reportedAtMs: engine.nowMs }, LIBRARY);
  const courier = new Courier({ deliver, clock });
  const liveness = async () => (await fleet.rows()).rows.map((row) => row.liveness.value);
  courier.send({ ...report("one"), ttlMs: PUBLISHER.ttlMs });
  await clock.advance(10 * PUBLISHER.ttlMs);
  expect(await liveness()).toEqual(["alive"]);
  // Killed: no last word, and nothing after it.
  await courier.close();
  await clock.advance(2 * PUBLISHER.ttlMs);
  expect(await liveness()).toEqual(["stale"]);
});

test("what is repeated says what happened since", async () => {
  const clock = new TestClock();
  const taken: string[] = [];
  const deliver = async (each: Report) => taken.push(each.facts.name ?? "");
  const renew = (each: Report) => report(`${each.facts.name} and on`);
  await using courier = new Courier({ deliver, renew, clock });
  courier.send(report("one"));
  await clock.advance(PUBLISHER.repeatMs);
  expect(taken).toEqual(["one", "one and on"]);
});
