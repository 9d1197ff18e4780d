/** The behaviour at each limit; the real numbers are only larger. */
import { beforeEach, expect, test, vi } from "vitest";
import { audit } from "../../test/support/core/audit.ts";
import { byOf, LIBRARY } from "./by.ts";
import type * as Limits from "./limits.ts";
import { LOCAL } from "./principals.ts";
import { card, DAY, replayed, SECOND, taskCreate, World } from "../../test/support/core/fixture.ts";

vi.mock("./limits.ts", async (original) => {
  const { COUNT, RETENTION, ...others } = await original<typeof Limits>();
  return {
    ...others,
    COUNT: {
      ...COUNT,
      agents: 4,
      leases: 5,
      leasesPerAgent: 3,
      groups: 4,
      candidatesPerGroup: 3,
      groupsPerAgent: 2,
      policies: 2,
      reports: 4,
      unfinishedTasks: 4,
      claimsPerAgent: 2,
      taskBytes: 40,
    },
    RETENTION: {
      ...RETENTION,
      deadAgents: 2,
      finishedTasks: 3,
      finishedTaskBytes: 32,
      forgottenAtOnce: 2,
    },
  };
});

const REGISTER = { type: "agent.register", card: card(), ttlMs: 0 } as const;

let world: World;
let agentId: string;

beforeEach(() => {
  world = new World();
  agentId = world.register({ ttlMs: DAY });
});

function finishOne(input = "", output = ""): string {
  const taskId = world.create({ input });
  world.claim(agentId);
  world.run({ type: "task.complete", taskId, agentId, output });
  return taskId;
}

test("no more agents are taken than memory allows; the dead do not count", () => {
  const others = [world.register(), world.register(), world.register()];
  expect(world.refusal(REGISTER)).toBe(
    "LIMIT_EXCEEDED: local already has 4 agents: that is the limit",
  );
  world.run({ type: "agent.deregister", agentId: others[0] ?? "" });
  expect(world.run(REGISTER).status).toBe("alive");
});

test("one principal leaves room for others, and others for it", () => {
  const ci = byOf({ ...LOCAL, name: "token:ci", roles: ["agent"] }, "http");
  world.by = ci;
  world.register();
  world.register();
  expect(world.refusal(REGISTER)).toBe(
    "LIMIT_EXCEEDED: token:ci already has 2 agents: its share of the limit 4 is 2",
  );
  world.by = LIBRARY;
  expect(world.refusal(REGISTER)).toBe(
    "LIMIT_EXCEEDED: local already has 1 agents: its share of the limit 4 is 1",
  );
});

function report(alias: string, liveness: "alive" | "exited" = "alive") {
  const facts = { liveness: { value: liveness, rule: "test" } };
  return { alias, agentId: alias, links: [], order: 1, reportedAtMs: 1, facts };
}

test("a report finds no room only when nothing of its owner is over", () => {
  const say = (...given: Parameters<typeof report>) =>
    world.topicsOf(() => world.run({ type: "fleet.report", report: report(...given) }));
  for (const alias of ["a:1", "a:2", "a:3"]) say(alias);
  say("a:4", "exited");
  expect(say("a:5")).toEqual(["fleet.forgotten", "fleet.reported"]);
  expect(world.refusal({ type: "fleet.report", report: report("a:6") })).toBe(
    "LIMIT_EXCEEDED: local already has 4 reports: that is the limit",
  );
  expect(say("a:5", "exited")).toEqual(["fleet.reported"]);
  world.by = byOf({ ...LOCAL, name: "token:ci", roles: ["agent"] }, "http");
  expect(world.refusal({ type: "fleet.report", report: report("b:1") })).toBe(
    "LIMIT_EXCEEDED: token:ci already has 0 reports: its share of the limit 4 is 0",
  );
});

test("tasks and their weight are shared, too", () => {
  world.by = byOf({ ...LOCAL, name: "token:ci", roles: ["agent"] }, "http");
  for (let i = 0; i < 2; i += 1) world.create({ input: "aaaa".repeat(2) });
  expect(world.refusal(taskCreate())).toContain("token:ci already has 2 unfinished tasks");
  const ids = [...world.state.tasks.byId.keys()];
  world.run({ type: "task.cancel", taskId: ids[0] ?? "", reason: "" });
  expect(world.refusal(taskCreate({ input: "aaaa".repeat(4) }))).toBe(
    "LIMIT_EXCEEDED: token:ci already has 8 bytes of unfinished tasks: " +
      "its share of the limit 40 is 20",
  );
  expect(world.create({ input: "aaaa".repeat(3) })).not.toBe("");
});

test("of too many dead agents the one that died first is forgotten", () => {
  const dying = [world.register(), world.register(), world.register()];
  for (const each of dying) {
    world.nowMs += 1;
    world.run({ type: "agent.deregister", agentId: each });
  }
  expect(dying.map((each) => world.status(each))).toEqual([undefined, "dead", "dead"]);
});

test("an agent at its limit gets no further lease, but keeps those it has", () => {
  for (const key of ["a", "b", "c"]) world.acquire(agentId, key);
  const more = { type: "lease.acquire", taskId: "d", agentId, ttlMs: 0 } as const;
  expect(world.refusal(more)).toBe(`LIMIT_EXCEEDED: agent ${agentId} already holds 3 leases`);
  expect(world.acquire(agentId, "a").acquired).toBe(true);
  expect(world.acquire(world.register(), "d").acquired).toBe(true);
});

test("there are never more leases than memory allows, but those held can be renewed", () => {
  const other = world.register();
  for (const key of ["a", "b", "c"]) world.acquire(agentId, key);
  for (const key of ["d", "e"]) world.acquire(other, key);
  const more = { type: "lease.acquire", taskId: "f", agentId: other, ttlMs: 0 } as const;
  expect(world.refusal(more)).toBe("LIMIT_EXCEEDED: local already has 5 leases: that is the limit");
  expect(world.acquire(other, "e").acquired).toBe(true);
  expect(world.acquire(other, "a").acquired).toBe(false);
});

test("an agent at its limit of groups joins no other, but may ask about its own", () => {
  world.campaign(agentId, "g1");
  world.campaign(agentId, "g2");
  expect(world.refusal({ type: "election.campaign", group: "g3", agentId })).toBe(
    `LIMIT_EXCEEDED: agent ${agentId} is already a candidate of 2 groups`,
  );
  expect(world.campaign(agentId, "g1").leader).toBe(agentId);
});

test("a group takes no more candidates than one election can look at", () => {
  for (const each of [agentId, world.register(), world.register()]) world.campaign(each, "g");
  const more = { type: "election.campaign", group: "g", agentId: world.register() } as const;
  expect(world.refusal(more)).toBe(
    "LIMIT_EXCEEDED: local already has 3 candidates in the group: that is the limit",
  );
  expect(world.campaign(agentId, "g").term).toBe(1);
});

test("there are never more groups than memory allows, but empty ones make room", () => {
  const [other, third] = [world.register(), world.register()];
  for (const group of ["g1", "g2"]) world.campaign(agentId, group);
  for (const group of ["g3", "g4"]) world.campaign(other, group);
  const more = { type: "election.campaign", group: "g5", agentId: third } as const;
  expect(world.refusal(more)).toBe(
    "LIMIT_EXCEEDED: local already has 4 election groups: that is the limit",
  );
  for (const group of ["g2", "g1"]) {
    world.nowMs += 1;
    world.run({ type: "election.resign", group, agentId });
  }
  const events = world.eventsOf(() => world.run(more));
  expect(events[0]).toEqual({ type: "election.forgotten", group: "g2" });
  expect(events.map(({ type }) => type).slice(1)).toEqual(["election.joined", "leader.changed"]);
  expect(audit(world.state)).toEqual([]);
  expect(world.campaign(agentId, "g2").term).toBe(3);
});

test("there are never more policies than memory allows, but those set can be changed", () => {
  const policy = { subject: "*", action: "*", resource: "*", effect: "allow" } as const;
  for (const id of ["a", "b"]) world.run({ type: "policy.set", policy: { ...policy, id } });
  expect(world.refusal({ type: "policy.set", policy: { ...policy, id: "c" } })).toBe(
    "LIMIT_EXCEEDED: local already has 2 policies: that is the limit",
  );
  const changed = { ...policy, id: "a", effect: "deny" } as const;
  expect(world.run({ type: "policy.set", policy: changed })).toEqual(changed);
});

test("no more tasks are taken than may be unfinished; finished ones do not count", () => {
  for (let i = 0; i < 3; i += 1) finishOne();
  for (let i = 0; i < 4; i += 1) world.create();
  expect(world.refusal(taskCreate())).toBe(
    "LIMIT_EXCEEDED: local already has 4 unfinished tasks: that is the limit",
  );
  const taskId = world.claim(agentId) ?? "";
  world.run({ type: "task.complete", taskId, agentId, output: "" });
  expect(world.create()).not.toBe("");
});

test("an agent claims only so many tasks at a time", () => {
  for (let i = 0; i < 3; i += 1) world.create();
  world.claim(agentId);
  const second = world.claim(agentId) ?? "";
  expect(world.refusal({ type: "task.claim", agentId })).toBe(
    `LIMIT_EXCEEDED: agent ${agentId} already has 2 tasks`,
  );
  world.run({ type: "task.complete", taskId: second, agentId, output: "" });
  expect(world.claim(agentId)).toBeDefined();
});

test("the unfinished tasks together weigh only so much", () => {
  const input = "aaaa".repeat(5);
  world.create({ input });
  world.create({ input });
  expect(world.refusal(taskCreate({ input: "aaaa" }))).toBe(
    "LIMIT_EXCEEDED: local already has 40 bytes of unfinished tasks: that is the limit",
  );
  expect(world.create({ input: "" })).not.toBe("");
});

test("finished tasks never keep new work from coming or old work from being completed", () => {
  const input = "aaaa".repeat(4);
  const [first, second] = [finishOne(input), finishOne(input)];
  expect(world.state.tasks.finishedBytes).toBe(32);
  const third = finishOne(input, "bbbb");
  expect(world.task(first)).toBeUndefined();
  expect(world.task(second)).toBeUndefined();
  expect(world.task(third)?.status).toBe("completed");
  expect(audit(world.state)).toEqual([]);
});

test("of too many finished tasks the oldest is forgotten", () => {
  const ids = [1, 2, 3, 4].map((ms) => {
    world.nowMs += ms;
    return finishOne();
  });
  expect(ids.map((id) => world.task(id)?.status)).toEqual([
    undefined,
    "completed",
    "completed",
    "completed",
  ]);
});

test("a death that ends several tasks makes room for each of them", () => {
  for (let i = 0; i < 3; i += 1) finishOne();
  for (let i = 0; i < 2; i += 1) {
    world.create();
    world.claim(agentId);
  }
  const topics = world.topicsOf(() => world.run({ type: "agent.deregister", agentId }));
  expect(topics.slice(1)).toEqual(["task.died", "task.died", "task.forgotten", "task.forgotten"]);
  expect(world.state.tasks.finished.size).toBe(3);
  expect(replayed(world.recorded()).tasks.finished.size).toBe(3);
});

test("no batch forgets more than a few at once; the next one goes on", () => {
  for (const input of ["", "", "aaaa".repeat(4), "aaaa".repeat(4)]) finishOne(input);
  expect(world.state.tasks.finished.size).toBe(3);
  const topics = world.topicsOf(() => finishOne("aaaa".repeat(8)));
  expect(topics.filter((topic) => topic === "task.forgotten")).toHaveLength(2);
  world.topicsOf(() => finishOne());
  expect(world.state.tasks.finishedBytes).toBeLessThanOrEqual(32);
  world.pass(SECOND);
  expect(audit(world.state)).toEqual([]);
});
