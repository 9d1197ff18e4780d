import { expect, test } from "vitest";
import { audit } from "../../test/support/core/audit.ts";
import { SECOND, World } from "../../test/support/core/fixture.ts";

// "Death releases the agent's leases, removes its candidacies (re-electing where it led) and
// requeues its claimed tasks, atomically, in that one step of the log."
test("a death gives back everything the agent had, in one step", () => {
  const world = new World();
  const [dying, heir] = [world.register(), world.register()];
  world.acquire(dying, "a");
  world.acquire(dying, "b");
  world.campaign(dying, "led");
  world.campaign(heir, "led");
  world.campaign(heir, "joined");
  world.campaign(dying, "joined");
  const retried = world.create({ maxRetries: 1 });
  const last = world.create();
  world.claim(dying);
  world.claim(dying);

  const decision = world.decide({ type: "agent.deregister", agentId: dying });
  if (!decision.ok) throw new Error(decision.reason);
  expect(decision.events.map(({ type }) => type)).toEqual([
    "agent.died",
    "lease.released",
    "lease.released",
    "election.left",
    "leader.changed",
    "election.left",
    "task.requeued",
    "task.died",
  ]);
  world.record(decision.events);
  expect(audit(world.state)).toEqual([]);
  expect(world.state.leases.byTask.size).toBe(0);
  expect(world.campaign(heir, "led")).toMatchObject({ leader: heir, term: 2 });
  expect(world.campaign(heir, "joined")).toMatchObject({ leader: heir, term: 1 });
  expect(world.task(retried)).toMatchObject({ status: "pending", retryCount: 1 });
  expect(world.task(last)).toMatchObject({
    status: "dead",
    failureReason: `agent ${dying} died`,
  });
});

test("an agent that falls silent leaves as much behind as one that says goodbye", () => {
  const world = new World();
  const agentId = world.register({ ttlMs: 2 * SECOND });
  world.acquire(agentId, "a", 60 * SECOND);
  world.campaign(agentId, "g");
  world.create({ ttlMs: 60 * SECOND });
  world.claim(agentId);
  expect(world.topicsOf(() => world.pass(4 * SECOND))).toEqual([
    "agent.unreachable",
    "agent.died",
    "lease.released",
    "election.left",
    "leader.changed",
    "task.died",
  ]);
});

test("an agent that is only unreachable keeps all it has", () => {
  const world = new World();
  const agentId = world.register({ ttlMs: 2 * SECOND });
  world.acquire(agentId, "a", 60 * SECOND);
  world.campaign(agentId, "g");
  world.pass(2 * SECOND);
  expect(world.status(agentId)).toBe("unreachable");
  expect(world.state.leases.byTask.get("a")?.lease.holder).toBe(agentId);
  expect(world.state.elections.byGroup.get("g")?.election.leader).toBe(agentId);
});

test("the dead can do nothing: every command in their name is refused", () => {
  const world = new World();
  const agentId = world.register();
  world.run({ type: "agent.deregister", agentId });
  const dead = `NOT_FOUND: agent ${agentId} is dead`;
  const key = { taskId: "a", agentId };
  expect(world.refusal({ type: "lease.acquire", ...key, ttlMs: 0 })).toBe(dead);
  expect(world.refusal({ type: "lease.renew", ...key, token: 1, ttlMs: 0 })).toBe(dead);
  expect(world.refusal({ type: "lease.release", ...key, token: 1 })).toBe(dead);
  expect(world.refusal({ type: "election.campaign", group: "g", agentId })).toBe(dead);
  expect(world.refusal({ type: "election.resign", group: "g", agentId })).toBe(dead);
  expect(world.refusal({ type: "task.claim", agentId })).toBe(dead);
});
