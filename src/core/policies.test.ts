import { array, assert, constantFrom, property, record } from "fast-check";
import { expect, test } from "vitest";
import { FIELD } from "./limits.ts";
import { matches, mayMatchBeginning } from "./patterns.ts";
import { accessProblem, checkPolicy, isGoverned, type Policy } from "./policies.ts";
import { World } from "../../test/support/core/fixture.ts";

const READ: Policy = {
  id: "allow-read",
  subject: "agent:scraper",
  action: "call",
  resource: "tool:read_file",
  effect: "allow",
};

function worldWith(...policies: readonly Policy[]): World {
  const world = new World();
  for (const policy of policies) world.run({ type: "policy.set", policy });
  return world;
}

function check(world: World, [subject, action, resource]: readonly [string, string, string]) {
  const { allowed, reason } = checkPolicy(world.state.policies, { subject, action, resource });
  return { allowed, reason };
}

test("a policy that is set is answered with, told to watchers, and replaces its namesake", () => {
  const world = new World();
  const replaced = { ...READ, subject: "agent:other", effect: "deny" } as const;
  expect(world.run({ type: "policy.set", policy: READ })).toEqual(READ);
  world.run({ type: "policy.set", policy: replaced });
  expect([...world.state.policies.byId.values()]).toEqual([replaced]);
  expect(check(world, ["agent:scraper", "call", "tool:read_file"]).reason).toContain("no matching");
  expect(world.history).toEqual([
    { type: "policy.set", policy: READ },
    { type: "policy.set", policy: replaced },
  ]);
});

test.each([
  ["by its name", { action: "call" }, true],
  ["by its name, whatever its resource", { action: "call", resource: "slip" }, true],
  ["by a pattern, on a resource of its kind", { action: "c*", resource: "*:read_file" }, true],
  ["by a pattern, on something else", { action: "*", resource: "file:*" }, false],
  ["not at all", { action: "read" }, false],
  ["only to deny it", { action: "call", effect: "deny" }, false],
] as const)("an action that a policy names %s: is it governed?", (_how, changes, isSo) => {
  const world = worldWith({ ...READ, ...changes });
  const isTool = (resource: string) => mayMatchBeginning(resource, "tool:");
  expect(isGoverned(world.state.policies, "call", isTool)).toBe(isSo);
  world.run({ type: "policy.delete", id: READ.id });
  expect(isGoverned(world.state.policies, "call", isTool)).toBe(false);
});

// "with nothing matching a default deny whose reason holds `no matching`"
test("what no policy speaks of is denied", () => {
  const { allowed, reason } = check(new World(), ["agent:a", "call", "tool:x"]);
  expect(allowed).toBe(false);
  expect(reason).toContain("no matching");
});

// "Reasons: `denied by policy "ID"`, `allowed by policy "ID"`"
test("the answer names the policy that decided", () => {
  const deny = { ...READ, id: "deny-all", resource: "tool:*", effect: "deny" } as const;
  expect(check(worldWith(READ), ["agent:scraper", "call", "tool:read_file"])).toEqual({
    allowed: true,
    reason: 'allowed by policy "allow-read"',
  });
  expect(check(worldWith(READ, deny), ["agent:scraper", "call", "tool:read_file"])).toEqual({
    allowed: false,
    reason: 'denied by policy "deny-all"',
  });
});

// "`*` wildcards in subject, action and resource (also inside a string: `tool:*`)"
test.each([
  ["subject", { subject: "agent:*" }],
  ["subject, all of it", { subject: "*" }],
  ["subject, in the middle", { subject: "a*:scr*er" }],
  ["action", { action: "*" }],
  ["resource", { resource: "tool:*" }],
  ["resource, at the end", { resource: "*_file" }],
])("a star stands for anything in the %s", (_, fields) => {
  const world = worldWith({ ...READ, ...fields });
  expect(check(world, ["agent:scraper", "call", "tool:read_file"]).allowed).toBe(true);
  expect(check(world, ["user:x", "look", "door:y"]).allowed).toBe(false);
});

test("a star in what is asked is a character like any other", () => {
  expect(check(worldWith(READ), ["*", "*", "*"]).allowed).toBe(false);
});

// "DENY wins."
test("a denial wins over any number of allowances, whichever came first", () => {
  const deny = { ...READ, id: "z", subject: "*", resource: "*", effect: "deny" } as const;
  for (const policies of [
    [READ, deny],
    [deny, READ],
  ]) {
    const world = worldWith(...policies);
    expect(check(world, ["agent:scraper", "call", "tool:read_file"]).allowed).toBe(false);
  }
});

test("of several that agree the lowest id is named, whatever the order they came in", () => {
  const twin = { ...READ, id: "a-twin", resource: "tool:*" };
  for (const policies of [
    [READ, twin],
    [twin, READ],
  ]) {
    const { reason } = check(worldWith(...policies), ["agent:scraper", "call", "tool:read_file"]);
    expect(reason).toBe('allowed by policy "a-twin"');
  }
});

test("a deleted policy no longer counts", () => {
  const world = worldWith(READ);
  expect(world.eventsOf(() => world.run({ type: "policy.delete", id: READ.id }))).toEqual([
    { type: "policy.deleted", id: READ.id },
  ]);
  expect(check(world, ["agent:scraper", "call", "tool:read_file"]).allowed).toBe(false);
  expect(world.state.policies.filed.isEmpty).toBe(true);
});

test("an unknown policy is not found", () => {
  expect(new World().refusal({ type: "policy.delete", id: "x" })).toBe("NOT_FOUND: no policy x");
});

// "INVALID_ARGUMENT for empty/oversized/invalid fields (name the field)"
test("an invalid field is named", () => {
  const world = new World();
  const long = "x".repeat(FIELD.keyLength + 1);
  for (const field of ["id", "subject", "action", "resource"] as const) {
    for (const [value, problem] of [
      ["", "is empty"],
      [long, "has 257 characters"],
      ["a\u0000", "holds a control character"],
    ] as const) {
      const policy = { ...READ, [field]: value };
      expect(world.refusal({ type: "policy.set", policy })).toContain(
        `INVALID_ARGUMENT: policy.${field} ${problem}`,
      );
    }
  }
  expect(world.refusal({ type: "policy.delete", id: "" })).toBe("INVALID_ARGUMENT: id is empty");
});

test("a question with an empty or oversized field is called invalid, not denied", () => {
  const asked = { subject: "a", action: "b", resource: "c" };
  expect(accessProblem(asked)).toBeUndefined();
  expect(accessProblem({ ...asked, subject: "" })).toBe("subject is empty");
  expect(accessProblem({ ...asked, action: "" })).toBe("action is empty");
  expect(accessProblem({ ...asked, resource: "x".repeat(300) })).toContain("resource has 300");
});

const pattern = constantFrom("*", "a", "b", "a*", "*b", "ab", "a*b");
const aPolicy = record<Policy>({
  id: constantFrom("p1", "p2", "p3", "p4", "p5", "p6"),
  subject: pattern,
  action: pattern,
  resource: pattern,
  effect: constantFrom("allow", "deny"),
});
const word = constantFrom("a", "b", "ab", "aab", "c");

test("a check finds what trying every policy would find", () => {
  const request = record({ subject: word, action: word, resource: word });
  assert(
    property(array(aPolicy), array(request), (policies, requests) => {
      const world = worldWith(...policies);
      for (const asked of requests) {
        const matching = [...world.state.policies.byId.values()].filter(
          (each) =>
            matches(each.subject, asked.subject) &&
            matches(each.action, asked.action) &&
            matches(each.resource, asked.resource),
        );
        const denies = matching.some(({ effect }) => effect === "deny");
        const verdict = checkPolicy(world.state.policies, asked);
        expect(verdict.allowed).toBe(matching.length > 0 && !denies);
        expect(verdict.policy === undefined).toBe(matching.length === 0);
      }
    }),
  );
});
