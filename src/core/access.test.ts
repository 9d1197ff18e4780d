import { expect, test } from "vitest";
import { World } from "../../test/support/core/fixture.ts";
import { accessTo, judge, permit } from "./access.ts";
import { nearMisses, type Policy } from "./policies.ts";
import { LOCAL, type Role } from "./principals.ts";
import { ROLE_POLICIES } from "./roles.ts";

const CLAIM = { action: "task.claim", resource: "task:*" } as const;

function caller(role: Role, name = "token:ci") {
  return { ...LOCAL, name, roles: [role] };
}

function policy(id: string, fields: Partial<Policy> = {}): Policy {
  return { id, subject: "*", action: "*", resource: "*", effect: "deny", ...fields };
}

function policiesWith(...policies: readonly Policy[]) {
  const world = new World();
  for (const each of policies) world.run({ type: "policy.set", policy: each });
  return world.state.policies;
}

test("a refusal names the caller, its roles and the action", () => {
  expect(() => permit(policiesWith(), caller("viewer", "user:alice"), CLAIM)).toThrow(
    "user:alice (viewer) may not task.claim",
  );
});

test.each([
  ["its name", { subject: "token:ci" }],
  ["its role", { subject: "role:agent" }],
  ["a pattern of callers", { subject: "token:*", action: "task.*" }],
  ["everybody", {}],
])("a denial narrows a role by %s", (_, fields) => {
  const policies = policiesWith(policy("narrow", fields));
  expect(() => permit(policies, caller("agent"), CLAIM)).toThrow(
    'token:ci (agent) may not task.claim task:*: denied by policy "narrow"',
  );
});

test.each([
  ["another caller", { subject: "token:other" }],
  ["another role", { subject: "role:operator" }],
  ["another action", { action: "lease.*" }],
  ["another resource", { resource: "task:secret" }],
  ["a tool of an agent", { action: "call" }],
])("a denial of %s does not", (_, fields) => {
  expect(() => permit(policiesWith(policy("x", fields)), caller("agent"), CLAIM)).not.toThrow();
});

test("an allowance widens no role, and needs none to stand beside it", () => {
  const policies = policiesWith(policy("wide", { effect: "allow" }));
  expect(judge(policies, caller("viewer"), CLAIM).allowed).toBe(false);
  expect(judge(policies, caller("agent"), CLAIM).policy?.id).toBe("role:agent/task.*");
});

test("no denial locks an admin out", () => {
  expect(() => permit(policiesWith(policy("all")), LOCAL, CLAIM)).not.toThrow();
});

test("only a denial of what this daemon does is looked at on every call", () => {
  const policies = policiesWith(policy("tool", { action: "call" }));
  expect(policies.narrowing.size).toBe(0);
  expect(policiesWith(policy("any")).narrowing.size).toBe(1);
});

test("a deleted denial narrows no more", () => {
  const world = new World();
  world.run({ type: "policy.set", policy: policy("p") });
  world.run({ type: "policy.set", policy: policy("p", { effect: "allow" }) });
  expect(world.state.policies.narrowing.size).toBe(0);
  world.run({ type: "policy.set", policy: policy("p") });
  world.run({ type: "policy.delete", id: "p" });
  expect(world.state.policies.narrowing.size).toBe(0);
});

test("a resource is that of the input", () => {
  const access = { action: "lease.acquire", resource: "lease:{taskId}" } as const;
  const prod = accessTo(access, { taskId: "prod/db", agentId: "a" });
  expect(prod.resource).toBe("lease:prod/db");
  const policies = policiesWith(policy("prod", { resource: "lease:prod/*" }));
  expect(judge(policies, caller("agent"), prod).policy?.id).toBe("prod");
  expect(judge(policies, caller("agent"), accessTo(access, { taskId: "x" })).allowed).toBe(true);
});

test("a near miss names the one field that did not match", () => {
  const subjects = ["a", "role:viewer"];
  const request = { subject: "a", action: "call", resource: "tool:x" };
  const policies = [
    policy("z", { ...request, resource: "tool:y" }),
    policy("a", { ...request, subject: "b*" }),
    policy("two", { ...request, subject: "b", action: "look" }),
    policy("hit", request),
    policy("role", { ...request, subject: "role:viewer" }),
  ];
  expect(
    nearMisses(policies, { ...request, subjects }).map((each) => [each.policy.id, each.failed]),
  ).toEqual([
    ["a", "subject"],
    ["z", "resource"],
  ]);
  expect(nearMisses(ROLE_POLICIES.viewer, { ...CLAIM, subjects })).toContainEqual(
    expect.objectContaining({ failed: "action" }),
  );
});
