import { expect, test } from "vitest";
import { introduction } from "../../test/support/core/members.ts";
import { SECOND, World } from "../../test/support/core/fixture.ts";
import { namedBy } from "./by.ts";
import { MEMBERS } from "./limits.ts";
import { seeMember, type Introduction } from "./members.ts";
import { capture, fingerprint, restore } from "./snapshot.ts";

function join(world: World, facts: Partial<Introduction> = {}) {
  return world.run({ type: "node.join", member: introduction(facts) });
}

function names({ state }: World): string[] {
  return [...state.members.byNode.keys()];
}

test("a node that joins is a member, and says it twice without a second event", () => {
  const world = new World();
  expect(world.topicsOf(() => join(world))).toEqual(["node.joined"]);
  expect(world.topicsOf(() => join(world))).toEqual([]);
  expect(names(world)).toEqual(["a"]);
});

test("a node that came back elsewhere tells its new address", () => {
  const world = new World();
  join(world);
  expect(world.topicsOf(() => join(world, { address: "10.0.0.2:7071" }))).toEqual(["node.joined"]);
  expect(world.state.members.byNode.get("a")?.member.address).toBe("10.0.0.2:7071");
});

test("a second living node of one name is refused, and told where the other one is", () => {
  const world = new World();
  join(world);
  world.pass(MEMBERS.livingMs - 1);
  const refusal = world.refusal({ type: "node.join", member: introduction({ instance: "i2" }) });
  expect(refusal).toBe(
    "ALREADY_EXISTS: node a is a member already, at 10.0.0.1:7071, and lives: " +
      "give this one another name with --node, or stop that one",
  );
  world.pass(1);
  join(world, { instance: "i2" });
  expect(world.state.members.byNode.get("a")?.member.instance).toBe("i2");
});

test("signs of life keep a member, silence ends it after the time that it said", () => {
  const world = new World();
  join(world, { lostAfterMs: 10 * SECOND });
  world.pass(9 * SECOND);
  expect(seeMember(world.state, { node: "a", instance: "i1" }, world.nowMs)).toBe(true);
  expect(seeMember(world.state, { node: "a", instance: "i2" }, world.nowMs)).toBe(false);
  world.pass(10 * SECOND - 1);
  expect(names(world)).toEqual(["a"]);
  expect(world.eventsOf(() => world.pass(1))).toEqual([
    { type: "node.left", node: "a", instance: "i1", cause: "silent" },
  ]);
  expect(names(world)).toEqual([]);
});

test("no member is lost for a time in which nobody led", () => {
  const world = new World();
  join(world, { lostAfterMs: 10 * SECOND });
  world.nowMs += 60 * SECOND;
  world.lead("b");
  world.pass(10 * SECOND - 1);
  expect(names(world)).toEqual(["a"]);
});

test("a node leaves by itself; an operator gives up only one that is silent", () => {
  const world = new World();
  join(world);
  join(world, { node: "b" });
  expect(world.refusal({ type: "node.leave", node: "a" })).toContain("WRONG_STATE: node a lives");
  expect(world.refusal({ type: "node.leave", node: "c" })).toBe("NOT_FOUND: no member c");
  // What an instance of before says no longer counts.
  world.run({ type: "node.leave", node: "a", instance: "i0" });
  world.run({ type: "node.leave", node: "a", instance: "i1" });
  expect(names(world)).toEqual(["b"]);
  world.pass(MEMBERS.livingMs);
  const left = world.eventsOf(() => world.run({ type: "node.leave", node: "b" }));
  expect(left).toMatchObject([{ type: "node.left", cause: "removed" }]);
});

test("only operators say who is a member", () => {
  const world = new World();
  world.by = namedBy("eve", "grpc");
  const refusal = "PERMISSION_DENIED: eve may not node.join";
  expect(world.refusal({ type: "node.join", member: introduction() })).toBe(refusal);
});

test("there are at most so many", () => {
  const world = new World();
  for (let i = 0; i < MEMBERS.most; i += 1) join(world, { node: `n${i}` });
  const member = introduction({ node: "one-more" });
  expect(world.refusal({ type: "node.join", member })).toContain("LIMIT_EXCEEDED");
});

test("members survive a restart from a snapshot", async () => {
  const world = new World();
  join(world);
  const restored = await restore(capture(world.state));
  expect(fingerprint(restored)).toBe(fingerprint(world.state));
  expect(restored.members.byNode.get("a")?.member).toMatchObject(introduction());
});
