import { expect, test } from "vitest";
import { FIELD, RETENTION } from "./limits.ts";
import { DAY, replayed, SECOND, START_MS, World } from "../../test/support/core/fixture.ts";

function resign(world: World, agentId: string, group: string) {
  return world.run({ type: "election.resign", group, agentId });
}

test("the first candidate leads at once, in term 1", () => {
  const world = new World();
  const agentId = world.register();
  const [joined, changed] = world.eventsOf(() => world.campaign(agentId, "g"));
  expect(joined).toEqual({ type: "election.joined", group: "g", agentId });
  expect(changed).toEqual({
    type: "leader.changed",
    election: { group: "g", leader: agentId, term: 1, electedAtMs: START_MS },
  });
});

// "Campaign is idempotent"
test("campaigning again changes nothing and tells who leads", () => {
  const world = new World();
  const [leader, standby] = [world.register(), world.register()];
  const election = world.campaign(leader, "g");
  world.campaign(standby, "g");
  const topics = world.topicsOf(() => {
    expect(world.campaign(leader, "g")).toEqual(election);
    expect(world.campaign(standby, "g")).toEqual(election);
  });
  expect(topics).toEqual([]);
});

// "A new candidate joining never displaces the current leader — only death or resign() does."
test("a candidate that joins later does not displace the leader", () => {
  const world = new World();
  const [leader, standby] = [world.register(), world.register()];
  world.campaign(leader, "g");
  const topics = world.topicsOf(() => {
    expect(world.campaign(standby, "g")).toMatchObject({ leader, term: 1 });
  });
  expect(topics).toEqual(["election.joined"]);
});

// "Resign by the leader re-elects at once, by a standby just leaves."
test("when the leader resigns, the one that has waited longest leads the next term", () => {
  const world = new World();
  const [a, b, c] = [world.register(), world.register(), world.register()];
  for (const agentId of [a, b, c]) world.campaign(agentId, "g");
  world.nowMs += SECOND;
  expect(resign(world, a, "g")).toEqual({
    group: "g",
    leader: b,
    term: 2,
    electedAtMs: world.nowMs,
  });
  expect(world.campaign(a, "g").leader).toBe(b);
  expect(resign(world, b, "g").leader).toBe(c);
  expect(resign(world, c, "g")).toMatchObject({ leader: a, term: 4 });
});

test("when a standby resigns, the leader and the term stay", () => {
  const world = new World();
  const [leader, standby] = [world.register(), world.register()];
  world.campaign(leader, "g");
  world.campaign(standby, "g");
  const topics = world.topicsOf(() => {
    expect(resign(world, standby, "g")).toMatchObject({ leader, term: 1 });
  });
  expect(topics).toEqual(["election.left"]);
});

test("a candidate that is alive goes before one that is unreachable", () => {
  const world = new World();
  const leader = world.register({ ttlMs: 60 * SECOND });
  const silent = world.register({ ttlMs: SECOND });
  const alive = world.register({ ttlMs: 60 * SECOND });
  for (const agentId of [leader, silent, alive]) world.campaign(agentId, "g");
  world.pass(SECOND);
  expect(world.status(silent)).toBe("unreachable");
  expect(resign(world, leader, "g").leader).toBe(alive);
  expect(resign(world, alive, "g").leader).toBe(silent);
});

// "term grows with every change of leader in the group and never falls"
test("when the only candidate resigns nobody leads, which is a change of leader too", () => {
  const world = new World();
  const agentId = world.register();
  world.campaign(agentId, "g");
  expect(resign(world, agentId, "g")).toMatchObject({ leader: "", term: 2 });
  expect(world.campaign(agentId, "g")).toMatchObject({ leader: agentId, term: 3 });
});

test("groups do not mix: each has its own leader and term", () => {
  const world = new World();
  const [a, b] = [world.register(), world.register()];
  world.campaign(a, "one");
  world.campaign(b, "two");
  expect(resign(world, a, "one").term).toBe(2);
  expect(world.campaign(b, "two")).toMatchObject({ leader: b, term: 1 });
});

test("a group that stood empty for a day is forgotten, but its term never comes again", () => {
  const world = new World();
  const agentId = world.register({ ttlMs: 0 });
  world.campaign(agentId, "g");
  resign(world, agentId, "g");
  world.pass(DAY - 1);
  expect(world.state.elections.byGroup.has("g")).toBe(true);
  expect(world.topicsOf(() => world.pass(1))).toContain("election.forgotten");
  expect(world.state.elections.byGroup.has("g")).toBe(false);
  expect(world.campaign(world.register(), "g").term).toBe(3);
});

test("a young group that is forgotten last does not lower the terms of an older one", () => {
  const world = new World();
  const agentId = world.register({ ttlMs: DAY });
  for (let i = 0; i < 3; i += 1) {
    world.campaign(agentId, "old");
    resign(world, agentId, "old");
  }
  world.campaign(agentId, "young");
  world.nowMs += SECOND;
  resign(world, agentId, "young");
  world.pass(2 * DAY);
  expect(world.state.elections.byGroup.size).toBe(0);
  expect(world.campaign(world.register(), "old").term).toBe(7);
});

test("a group that somebody joined again in time is not forgotten", () => {
  const world = new World();
  const agentId = world.register({ ttlMs: DAY });
  world.campaign(agentId, "g");
  resign(world, agentId, "g");
  world.pass(DAY - 1);
  world.beat(agentId);
  world.campaign(agentId, "g");
  expect(world.topicsOf(() => world.pass(DAY - 1))).toEqual([]);
});

test("who is not there, or no candidate, is told so", () => {
  const world = new World();
  const agentId = world.register();
  const resignation = { type: "election.resign", group: "g", agentId } as const;
  const refused = `NOT_FOUND: agent ${agentId} is not a candidate of g`;
  expect(world.refusal(resignation)).toBe(refused);
  world.campaign(world.register(), "g");
  expect(world.refusal(resignation)).toBe(refused);
  expect(world.refusal({ ...resignation, agentId: "x" })).toBe("NOT_FOUND: no agent x");
});

test("an invalid field is named", () => {
  const world = new World();
  const agentId = world.register();
  for (const type of ["election.campaign", "election.resign"] as const) {
    expect(world.refusal({ type, group: "", agentId })).toBe("INVALID_ARGUMENT: group is empty");
    expect(world.refusal({ type, group: "g".repeat(FIELD.keyLength + 1), agentId })).toMatch(
      /^INVALID_ARGUMENT: group has 257 characters/,
    );
    expect(world.refusal({ type, group: "g", agentId: "" })).toBe(
      "INVALID_ARGUMENT: agentId is empty",
    );
  }
});

test("a group is forgotten a day after it fell empty, whoever restarts in between", () => {
  const world = new World();
  const agentId = world.register();
  world.campaign(agentId, "g");
  resign(world, agentId, "g");
  const state = replayed(world.recorded());
  expect(state.elections.empty.nextAt()).toBe(START_MS + RETENTION.emptyGroupMs);
});
