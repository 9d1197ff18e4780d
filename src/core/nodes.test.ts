import { expect, test } from "vitest";
import { leading } from "./nodes.ts";
import { capture, restore } from "./snapshot.ts";
import { SECOND, World } from "../../test/support/core/fixture.ts";

test("each node that leads does so in an epoch of its own", () => {
  const world = new World();
  expect(world.state.leadership).toEqual({ node: "", epoch: 0 });
  world.lead("n1");
  world.lead("n2");
  world.lead("n2");
  expect(world.state.leadership).toEqual({ node: "n2", epoch: 3 });
  expect(leading(world.state, "n3")).toEqual({ type: "node.leading", node: "n3", epoch: 4 });
});

test("a node that was suspended goes on in its epoch", () => {
  const world = new World();
  world.lead("n1");
  world.record([{ type: "node.resumed", node: "n1", unseenMs: 9 * SECOND }]);
  expect(world.state.leadership).toEqual({ node: "n1", epoch: 1 });
});

// "After a start or a fail-over every live deadline is extended by one full ttl, so a restart kills
// nobody."
test.each(["node.leading", "node.resumed"] as const)(
  "after %s every agent, lease and claim has one full ttl from then on",
  (type) => {
    const world = new World();
    const agentId = world.register({ ttlMs: 10 * SECOND });
    world.acquire(agentId, "k", 5 * SECOND);
    world.create({ ttlMs: 8 * SECOND });
    world.claim(agentId);
    world.nowMs += 3600 * SECOND;
    if (type === "node.leading") world.lead();
    else world.record([{ type, node: "n1", unseenMs: 3600 * SECOND }]);
    expect(world.topicsOf(() => world.pass(5 * SECOND - 1))).toEqual([]);
    expect(world.topicsOf(() => world.pass(1))).toEqual(["lease.expired"]);
    expect(world.topicsOf(() => world.pass(3 * SECOND))).toEqual(["task.died"]);
    expect(world.topicsOf(() => world.pass(2 * SECOND))).toEqual(["agent.unreachable"]);
  },
);

test("an unreachable agent, too, has at least one full ttl to come back", () => {
  const world = new World();
  const agentId = world.register({ ttlMs: 10 * SECOND });
  world.pass(19 * SECOND);
  world.lead();
  world.pass(10 * SECOND);
  expect(world.status(agentId)).toBe("unreachable");
  world.beat(agentId);
  expect(world.status(agentId)).toBe("alive");
});

test("what is given after the change of leader does not live longer for it", () => {
  const world = new World();
  const agentId = world.register({ ttlMs: 60 * SECOND });
  world.acquire(agentId, "k", 50 * SECOND);
  world.lead();
  world.pass(2 * SECOND);
  world.acquire(agentId, "k", 4 * SECOND);
  expect(world.topicsOf(() => world.pass(4 * SECOND))).toEqual(["lease.expired"]);
});

test("the grace is part of the state: a follower that takes over later knows it", async () => {
  const world = new World();
  const agentId = world.register({ ttlMs: 10 * SECOND });
  world.acquire(agentId, "k", 5 * SECOND);
  world.nowMs += 30 * SECOND;
  world.lead();
  const restored = await restore(capture(world.state));
  expect(restored.graceFromMs).toBe(world.nowMs);
  expect(restored.leadership).toEqual(world.state.leadership);
});
