import { expect, test } from "vitest";
import type { Event } from "./events.ts";
import { rules } from "./rules.ts";
import { emptyState } from "./state.ts";
import { DAY, SECOND, START_MS, World } from "../../test/support/core/fixture.ts";

test("where nothing lives nothing is due", () => {
  const state = emptyState();
  expect(rules.due(state)).toBeUndefined();
  expect(rules.expire(state, Infinity)).toEqual([]);
});

test("due is the earliest deadline of all nouns", () => {
  const world = new World();
  const agentId = world.register({ ttlMs: 9 * SECOND });
  expect(rules.due(world.state)).toBe(START_MS + 9 * SECOND);
  world.acquire(agentId, "k", 7 * SECOND);
  expect(rules.due(world.state)).toBe(START_MS + 7 * SECOND);
  world.create({ ttlMs: 5 * SECOND });
  world.claim(agentId);
  expect(rules.due(world.state)).toBe(START_MS + 5 * SECOND);
});

test("nothing expires before it is due", () => {
  const world = new World();
  world.register({ ttlMs: 9 * SECOND });
  expect(rules.expire(world.state, START_MS + 9 * SECOND - 1)).toEqual([]);
  expect(rules.expire(world.state, START_MS + 9 * SECOND)).toHaveLength(1);
});

test("after a late look what was due first happens first", () => {
  const world = new World();
  const agentId = world.register({ ttlMs: 3 * SECOND });
  world.acquire(agentId, "k", 2 * SECOND);
  world.create({ ttlMs: SECOND });
  world.claim(agentId);
  expect(world.topicsOf(() => world.oversleep(4 * SECOND))).toEqual([
    "task.died",
    "lease.expired",
    "agent.unreachable",
  ]);
});

test("looking again ends, however long nobody looked", () => {
  const world = new World();
  const agents = [world.register(), world.register({ ttlMs: 40 * SECOND })];
  for (const agentId of agents) {
    world.acquire(agentId, `lease of ${agentId}`);
    world.campaign(agentId, "g");
    world.create({ maxRetries: 3 });
    world.claim(agentId);
  }
  for (let i = 0; i < 3; i += 1) world.oversleep(3 * DAY);
  expect(rules.due(world.state)).toBeUndefined();
  expect(world.state.agents.byId.size).toBe(0);
  expect(world.state.elections.byGroup.size).toBe(0);
  expect(world.state.tasks.pending.size).toBe(2);
});

test("the moment of the last event never falls, even where a clock did", () => {
  const state = emptyState();
  rules.evolve(state, { type: "policy.deleted", id: "x" }, 100);
  rules.evolve(state, { type: "policy.deleted", id: "x" }, 90);
  expect(state.lastAtMs).toBe(100);
});

test("an event of a type that is not known is refused, never skipped", () => {
  const event = { type: "robot.danced" } as unknown as Event;
  const evolving = () => rules.evolve(emptyState(), event, 100);
  expect(evolving).toThrow(expect.objectContaining({ code: "STORAGE_TOO_NEW" }));
  expect(evolving).toThrow("robot.danced");
});
