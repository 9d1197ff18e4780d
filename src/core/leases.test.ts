import { expect, test } from "vitest";
import { FIELD, TTL } from "./limits.ts";
import type { Lease } from "./leases.ts";
import { SECOND, START_MS, World } from "../../test/support/core/fixture.ts";

function holderOf(world: World, taskId: string): Lease | undefined {
  return world.state.leases.byTask.get(taskId)?.lease;
}

test("the first to ask gets the lease, with a token and a deadline", () => {
  const world = new World();
  const agentId = world.register();
  const { acquired, lease } = world.acquire(agentId, "invoice-42", 5 * SECOND);
  expect(acquired).toBe(true);
  expect(lease).toEqual({
    taskId: "invoice-42",
    holder: agentId,
    token: 1,
    ttlMs: 5 * SECOND,
    acquiredAtMs: START_MS,
    expiresAtMs: START_MS + 5 * SECOND,
  });
  expect(world.history.at(-1)).toEqual({ type: "lease.acquired", lease });
});

// "AcquireLease: acquired=false and the holder's lease when held."
test("who comes second is told who holds it, and nothing changes", () => {
  const world = new World();
  const [first, second] = [world.register(), world.register()];
  const { lease } = world.acquire(first, "k");
  const topics = world.topicsOf(() => {
    expect(world.acquire(second, "k")).toEqual({ acquired: false, lease });
  });
  expect(topics).toEqual([]);
});

// "The same holder acquiring again gets its lease back, renewed."
test("a holder that acquires again keeps its token and gets more time", () => {
  const world = new World();
  const agentId = world.register();
  const { lease } = world.acquire(agentId, "k", 5 * SECOND);
  world.pass(3 * SECOND);
  const [renewed] = world.eventsOf(() => world.acquire(agentId, "k", 5 * SECOND));
  expect(renewed).toEqual({
    type: "lease.renewed",
    lease: { ...lease, expiresAtMs: world.nowMs + 5 * SECOND },
  });
});

// "The token grows strictly over every grant of every task"
test("tokens grow over all leases and all claims of tasks together", () => {
  const world = new World();
  const agentId = world.register();
  const tokens = [world.acquire(agentId, "a").lease.token];
  const taskId = world.create();
  world.claim(agentId);
  tokens.push(world.task(taskId)?.token ?? 0, world.acquire(agentId, "b").lease.token);
  world.run({ type: "lease.release", taskId: "a", agentId, token: 1 });
  tokens.push(world.acquire(agentId, "a").lease.token);
  expect(tokens).toEqual([1, 2, 3, 4]);
});

test("a lease that nobody renews is free again when its time is up", () => {
  const world = new World();
  const [first, second] = [world.register(), world.register()];
  const { lease } = world.acquire(first, "k", 5 * SECOND);
  world.pass(5 * SECOND - 1);
  expect(holderOf(world, "k")).toEqual(lease);
  expect(world.eventsOf(() => world.pass(1))).toEqual([{ type: "lease.expired", lease }]);
  expect(world.acquire(second, "k").lease).toMatchObject({ holder: second, token: 2 });
});

test("renewing moves the deadline, and the timer follows when it rings", () => {
  const world = new World();
  const agentId = world.register({ ttlMs: 60 * SECOND });
  const { token } = world.acquire(agentId, "k", 5 * SECOND).lease;
  world.pass(4 * SECOND);
  const renewal = { type: "lease.renew", taskId: "k", agentId, token } as const;
  expect(world.run({ ...renewal, ttlMs: 8 * SECOND }).expiresAtMs).toBe(START_MS + 12 * SECOND);
  expect(world.topicsOf(() => world.pass(8 * SECOND - 1))).toEqual([]);
  expect(world.topicsOf(() => world.pass(1))).toEqual(["lease.expired"]);
});

test("a renewal may shorten the lease, and then it ends sooner", () => {
  const world = new World();
  const agentId = world.register({ ttlMs: 600 * SECOND });
  const { token } = world.acquire(agentId, "k", 500 * SECOND).lease;
  world.run({ type: "lease.renew", taskId: "k", agentId, token, ttlMs: 2 * SECOND });
  expect(world.topicsOf(() => world.pass(2 * SECOND))).toEqual(["lease.expired"]);
});

test("no ttl means the default at first, and the one it had when renewing", () => {
  const world = new World();
  const agentId = world.register();
  const first = world.run({ type: "lease.acquire", taskId: "a", agentId, ttlMs: 0 });
  expect(first.lease.ttlMs).toBe(TTL.leaseDefaultMs);
  const { token } = world.acquire(agentId, "b", 7 * SECOND).lease;
  const again = world.run({ type: "lease.renew", taskId: "b", agentId, token, ttlMs: 0 });
  expect(again.ttlMs).toBe(7 * SECOND);
});

test("a released lease is free at once", () => {
  const world = new World();
  const [first, second] = [world.register(), world.register()];
  const { lease } = world.acquire(first, "k");
  const { token } = lease;
  const release = { type: "lease.release", taskId: "k", agentId: first, token } as const;
  expect(world.eventsOf(() => world.run(release))).toEqual([
    { type: "lease.released", lease, cause: "released" },
  ]);
  expect(world.acquire(second, "k").acquired).toBe(true);
});

// "Renew/Release with a wrong or old token: PERMISSION_DENIED; unknown lease or agent: NOT_FOUND."
test("who does not hold the lease with that token neither renews nor releases it", () => {
  const world = new World();
  const [first, second] = [world.register({ ttlMs: 60 * SECOND }), world.register()];
  world.acquire(first, "k", SECOND);
  world.pass(SECOND);
  const { token } = world.acquire(first, "k").lease;
  expect(token).toBe(2);
  const wrong = [
    { agentId: first, token: 1 },
    { agentId: first, token: 3 },
    { agentId: second, token },
  ];
  for (const { agentId, token: used } of wrong) {
    const about = { taskId: "k", agentId, token: used };
    const refused = `NOT_HOLDER: agent ${agentId} does not hold k with token ${used}`;
    expect(world.refusal({ type: "lease.renew", ...about, ttlMs: 0 })).toBe(refused);
    expect(world.refusal({ type: "lease.release", ...about })).toBe(refused);
  }
});

test("an unknown lease or agent is not found", () => {
  const world = new World();
  const agentId = world.register();
  const about = { taskId: "k", agentId, token: 1 };
  expect(world.refusal({ type: "lease.renew", ...about, ttlMs: 0 })).toBe(
    "NOT_FOUND: no lease on k",
  );
  expect(world.refusal({ type: "lease.release", ...about })).toBe("NOT_FOUND: no lease on k");
  expect(world.refusal({ type: "lease.acquire", taskId: "k", agentId: "x", ttlMs: 0 })).toBe(
    "NOT_FOUND: no agent x",
  );
});

test("an invalid field is named", () => {
  const world = new World();
  const agentId = world.register();
  const acquire = { type: "lease.acquire", taskId: "k", agentId, ttlMs: 0 } as const;
  const refused: readonly (readonly [Partial<typeof acquire> | object, string])[] = [
    [{ taskId: "" }, "taskId is empty"],
    [{ taskId: "x".repeat(FIELD.keyLength + 1) }, "taskId has 257 characters"],
    [{ taskId: "a\u2028b" }, "taskId holds a control character"],
    [{ agentId: "" }, "agentId is empty"],
    [{ agentId: "x".repeat(FIELD.keyLength + 1) }, "agentId has 257 characters"],
    [{ ttlMs: 999 }, "ttlMs is 0.999 s"],
    [{ ttlMs: TTL.maxMs + 1 }, "ttlMs is 86400.001 s"],
  ];
  for (const [fields, reason] of refused) {
    expect(world.refusal({ ...acquire, ...fields })).toContain(`INVALID_ARGUMENT: ${reason}`);
  }
  const renew = { type: "lease.renew", taskId: "k", agentId, token: 1, ttlMs: 1 } as const;
  expect(world.refusal(renew)).toMatch(/^INVALID_ARGUMENT: ttlMs/);
});
