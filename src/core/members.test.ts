import { expect, test } from "vitest";
import { introduction } from "../../test/support/core/members.ts";
import { SECOND, World } from "../../test/support/core/fixture.ts";
import { namedBy } from "./by.ts";
import { FORMATS } from "./formats.ts";
import { MEMBERS } from "./limits.ts";
import { seeMember, type Introduction } from "./members.ts";
import { rules } from "./rules.ts";
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

test("an upgrade ends when no older member is left, once, and older ones do not come back", () => {
  const world = new World();
  const [, newest] = FORMATS;
  join(world, { node: "new", formats: FORMATS });
  join(world, { node: "old", instance: "i2", version: "0.0.9", formats: [1, newest - 1] });
  expect(world.refusal({ type: "node.finalize" })).toBe(
    `WRONG_STATE: node old (0.0.9) reads up to format ${newest - 1}, not ${newest}: ` +
      "upgrade it, or if it is gone: rollcall cluster leave old",
  );
  expect(world.state.format).toBe(1);
  // The same node after its upgrade.
  join(world, { node: "old", instance: "i2", version: "0.1.0", formats: FORMATS });
  expect(world.topicsOf(() => world.run({ type: "node.finalize" }))).toEqual(["node.finalized"]);
  expect(world.topicsOf(() => world.run({ type: "node.finalize" }))).toEqual([]);
  expect(world.state.format).toBe(newest);
  const old = introduction({ node: "late", formats: [1, newest - 1] });
  expect(world.refusal({ type: "node.join", member: old })).toMatch(/^STORAGE_TOO_NEW: node late/);
  const far = introduction({ node: "far", formats: [newest + 1, newest + 2] });
  expect(world.refusal({ type: "node.join", member: far })).toContain("run a version between");
});

test("a snapshot keeps the format, and one of a later format is refused", async () => {
  const world = new World();
  expect([...capture(world.state)].join("")).toContain('"version":8,');
  world.run({ type: "node.finalize" });
  const pieces = [...capture(world.state)];
  expect((await restore(pieces)).format).toBe(FORMATS[1]);
  // A program from before there were formats refuses it by its version.
  expect(pieces.join("")).toContain('"version":10,');
  const later = pieces.map((text) => text.replace('"format":2', '"format":3'));
  await expect(restore(later)).rejects.toMatchObject({ code: "STORAGE_TOO_NEW" });
  const finalized = { type: "node.finalized", format: FORMATS[1] + 1 } as const;
  expect(() => rules.evolve(world.state, finalized, 0)).toThrow("this program reads up to");
});
