import { describe, expect, test } from "vitest";
import { codeOf } from "../../src/core/errors.ts";
import type { KeeperAgent } from "../../src/wires/keeper/client/agent.ts";
import type { LeaseHandle } from "../../src/wires/keeper/client/lease.ts";
import { TestClock } from "../support/engine/fixture.ts";
import { both, clientOf, daemonOf, lineTo, pass } from "./fixture.ts";

/** Two programs with an agent each, on one clock, the first behind a line that can fail. */
async function rivals(ttlMs = 30_000) {
  const clock = new TestClock();
  const daemon = await daemonOf({ clock });
  const line = await lineTo(daemon.grpcAddress);
  const near = clientOf(line.address, { clock, random: () => 0.5 });
  const far = clientOf(daemon.grpcAddress, { clock, random: () => 0.5 });
  const one = await near.register({ name: "one", ttlMs, reregister: false });
  const two = await far.register({ name: "two", ttlMs: 3_600_000 });
  return { clock, daemon, line, near, far, one, two };
}

async function mustHave(agent: KeeperAgent, taskId: string, ttlMs = 10_000): Promise<LeaseHandle> {
  const lease = await agent.acquireLease(taskId, { ttlMs });
  if (!lease) throw new Error(`${taskId} is taken`);
  return lease;
}

function why(signal: AbortSignal): string {
  return signal.reason instanceof Error ? signal.reason.message : "";
}

test("a lease is held by one at a time, and free when its scope ends", async () => {
  const { keeper } = await both();
  const one = await keeper.register({ name: "one" });
  const two = await keeper.register({ name: "two" });
  let token = 0;
  {
    await using lease = await mustHave(one, "t");
    token = lease.token;
    expect(lease).toMatchObject({ taskId: "t", holder: one.id, isHeld: true });
    expect(lease.expiresAtMs).toBeGreaterThan(Date.now());
    expect(await two.acquireLease("t")).toBeUndefined();
    expect(await keeper.acquireLease("t", { agentId: two.id })).toBeUndefined();
  }
  const next = await mustHave(two, "t");
  expect(next.token).toBeGreaterThan(token);
});

describe("an agent that is used by several at once", () => {
  test("gives its lease to one of them", async () => {
    const { keeper } = await both();
    const agent = await keeper.register({ name: "a" });
    const all = await Promise.all(Array.from({ length: 5 }, () => agent.acquireLease("t")));
    const [first, ...others] = all.filter((lease) => lease !== undefined);
    expect(others).toEqual([]);
    const waiting = agent.acquireLease("t", { wait: true });
    await first?.release();
    const next = await waiting;
    expect(next.token).toBeGreaterThan(first?.token ?? Infinity);
    expect(next.isHeld).toBe(true);
  });

  test("keeps the lease it acquired anew when the handle it had lost is closed", async () => {
    const { clock, line, far, one, two } = await rivals(3_600_000);
    const old = await mustHave(one, "t");
    line.freeze();
    clock.stepWall(20_000);
    expect(old.isHeld).toBe(false);
    clock.stepWall(-20_000);
    line.thaw();
    const anew = await mustHave(one, "t", 3_600_000);
    expect(anew.token).toBe(old.token);
    await old.release();
    await pass(clock, far, 1_000);
    expect(await two.acquireLease("t")).toBeUndefined();
    expect(anew.isHeld).toBe(true);
  });
});

test("a lease is renewed for as long as it is held, five times its ttl and more", async () => {
  const { clock, far, one, two } = await rivals();
  const lease = await mustHave(one, "t");
  for (let i = 0; i < 20; i += 1) {
    await pass(clock, far, 2_500);
    expect(lease.isHeld).toBe(true);
  }
  expect(await two.acquireLease("t")).toBeUndefined();
  expect(lease.expiresAtMs).toBeGreaterThan(clock.wallMs());
});

/** When the holder was told that it lost the lease on t, and when its rival had it. */
async function lostAndGranted(
  { clock, far, two }: Pick<Awaited<ReturnType<typeof rivals>>, "clock" | "far" | "two">,
  lease: LeaseHandle,
) {
  const at = { lost: 0, granted: 0 };
  lease.signal.addEventListener("abort", () => (at.lost = clock.monotonicMs()));
  while (at.granted === 0) {
    await pass(clock, far, 500);
    if (await two.acquireLease("t")) at.granted = clock.monotonicMs();
    expect(clock.monotonicMs()).toBeLessThan(60_000);
  }
  return at;
}

describe("who holds a lease and loses touch", () => {
  test("is told before anybody else can have it", async () => {
    const { clock, line, far, one, two } = await rivals(3_600_000);
    const lease = await mustHave(one, "t");
    await pass(clock, far, 1_000);
    line.freeze();
    const at = await lostAndGranted({ clock, far, two }, lease);
    expect(at.lost).toBeGreaterThan(8_000);
    expect(at.granted - at.lost).toBeGreaterThan(0);
    expect(why(lease.signal)).toMatch(/the lease on t is lost: no renewal got through/);
    expect(codeOf(lease.signal.reason)).toBe("NOT_HOLDER");
  });

  test("is told before its agent's death frees it, however long the lease would last", async () => {
    const { clock, line, far, one, two } = await rivals(10_000);
    const lease = await mustHave(one, "t", 3_600_000);
    line.freeze();
    const at = await lostAndGranted({ clock, far, two }, lease);
    expect(at.lost).toBeGreaterThan(10_000);
    expect(at.granted - at.lost).toBeGreaterThan(0);
  });

  test("keeps it when the touch is back in time", async () => {
    const { clock, line, far, one } = await rivals();
    const lease = await mustHave(one, "t");
    line.freeze();
    await pass(clock, far, 6_000);
    line.thaw();
    await pass(clock, far, 30_000);
    expect(lease.isHeld).toBe(true);
  });

  test("does not trust a clock that stood still while the machine slept", async () => {
    const { clock, one } = await rivals();
    const lease = await mustHave(one, "t");
    clock.stepWall(60_000);
    expect(lease.isHeld).toBe(false);
    expect(lease.signal.aborted).toBe(true);
  });
});

test("a lease taken away is told with the daemon's reason", async () => {
  const { clock, far, one, two } = await rivals();
  const lease = await mustHave(one, "t");
  const twin = await far.acquireLease("t", { agentId: one.id });
  await twin?.release();
  expect(await two.acquireLease("t")).toBeDefined();
  await pass(clock, far, 5_000);
  expect(lease.signal.aborted).toBe(true);
  expect(why(lease.signal)).toMatch(/is lost: .*(permission|hold)/i);
  await lease.release();
});

test("leases end with the life of their agent", async () => {
  const { one } = await rivals();
  const lease = await mustHave(one, "t");
  await one.close();
  expect(lease.signal.aborted).toBe(true);
  expect(lease.isHeld).toBe(false);
});

describe("waiting for a lease", () => {
  test("ends when it is released, without asking in between", async () => {
    const { clock, one, two } = await rivals(3_600_000);
    const lease = await mustHave(one, "t", 3_600_000);
    const waiting = two.acquireLease("t", { wait: true });
    let isDone = false;
    void waiting.finally(() => (isDone = true));
    await clock.advance(5_000);
    expect(isDone).toBe(false);
    await lease.release();
    const got = await waiting;
    expect(got).toMatchObject({ holder: two.id, isHeld: true });
  });

  test("ends when the holder falls silent", async () => {
    const { clock, line, far, one, two } = await rivals(3_600_000);
    const lease = await mustHave(one, "t");
    const waiting = two.acquireLease("t", { wait: true });
    line.freeze();
    let got: LeaseHandle | undefined;
    void waiting.then((each) => (got = each));
    await pass(clock, far, 12_000);
    expect(got).toBeDefined();
    expect(lease.signal.aborted).toBe(true);
  });

  test("can be given up, and leaves nothing behind", async () => {
    const { one, two } = await rivals();
    const lease = await mustHave(one, "t");
    const stop = new AbortController();
    const waiting = two.acquireLease("t", { wait: true, signal: stop.signal });
    stop.abort();
    const error: unknown = await waiting.catch((reason: unknown) => reason);
    expect(codeOf(error)).toBe("CANCELLED");
    await lease.release();
    expect(await one.acquireLease("t")).toBeDefined();
  });

  test("is told when the client closes", async () => {
    const { keeper, daemon } = await both();
    const one = await keeper.register({ name: "one" });
    await mustHave(one, "t");
    const other = clientOf(daemon.grpcAddress);
    const two = await other.register({ name: "two" });
    const byHandle = two.acquireLease("t", { wait: true }).catch((error: unknown) => error);
    const byId = other
      .acquireLease("t", { agentId: two.id, wait: true })
      .catch((error: unknown) => error);
    await other.close();
    expect([codeOf(await byHandle), codeOf(await byId)]).toEqual(["CANCELLED", "CANCELLED"]);
  });
});
