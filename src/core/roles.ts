/**
 * Roles, as policies that ship: they say which actions a role allows, in the form of every other
 * policy. They are no part of the state, so nobody can set or delete one, a check of the policies
 * that people set does not see them, and they start no allow-list. access.ts decides by both.
 */
import { matches } from "./patterns.ts";
import type { Policy } from "./policies.ts";
import { ROLES, type Role } from "./principals.ts";

/** Everything that a caller can ask for. An action that ends in `.read` is open to viewers. */
export const ACTIONS = [
  "agent.read",
  "agent.register",
  "agent.heartbeat",
  "agent.deregister",
  "lease.read",
  "lease.acquire",
  "lease.renew",
  "lease.release",
  "election.read",
  "election.campaign",
  "election.resign",
  "policy.read",
  "policy.check",
  "policy.set",
  "policy.delete",
  "token.read",
  "token.create",
  "token.revoke",
  "task.read",
  "task.create",
  "task.cancel",
  "task.claim",
  "task.renew",
  "task.complete",
  "task.fail",
  "fleet.read",
  "fleet.report",
  "fleet.dismiss",
  "outpost.read",
  "outpost.join",
  "outpost.ask",
  "question.read",
  "question.dismiss",
  "job.read",
  "job.submit",
  "job.cancel",
  "directory.read",
  "directory.add",
  "directory.verify",
  "directory.remove",
  "event.read",
  "audit.read",
  "cluster.read",
  "cluster.stepdown",
  "cluster.leave",
  "cluster.finalize",
  "daemon.read",
  "overview.read",
  "metrics.read",
  "mcp.use",
] as const;

export type Action = (typeof ACTIONS)[number];

/** Patterns of actions. */
interface RoleRules {
  readonly allow: readonly string[];
  readonly deny?: readonly string[];
}

const READING = ["*.read", "policy.check", "mcp.use"];
/** Tells of callers, and so is for those that answer for them. */
const OF_CALLERS = ["token.read", "audit.read"];

const RULES: Readonly<Record<Role, RoleRules>> = {
  viewer: { allow: READING, deny: OF_CALLERS },
  // An agent sees its own (visibility.ts): what counts everything together is not for it.
  agent: {
    allow: [
      ...READING,
      "agent.*",
      "lease.*",
      "election.*",
      "task.*",
      "job.*",
      "fleet.report",
      "directory.add",
    ],
    deny: [...OF_CALLERS, "outpost.read", "overview.read", "metrics.read", "cluster.read"],
  },
  outpost: { allow: ["outpost.join", "fleet.report", "daemon.read"] },
  // The rules themselves: an operator that could change them would be an admin.
  operator: {
    allow: ["*"],
    deny: ["policy.set", "policy.delete", "token.create", "token.revoke"],
  },
  admin: { allow: ["*"] },
};

/** The subject of the policies of a role. */
export function subjectOf(role: Role): string {
  return `role:${role}`;
}

function policiesOf(role: Role): readonly Policy[] {
  const { allow, deny = [] } = RULES[role];
  const policy = (effect: Policy["effect"]) => (action: string) => {
    const subject = subjectOf(role);
    return { id: `${subject}/${action}`, subject, action, resource: "*", effect };
  };
  return [...allow.map(policy("allow")), ...deny.map(policy("deny"))];
}

/** A denial beats the allowances of its own role alone: a second role only ever adds. */
export const ROLE_POLICIES: Readonly<Record<Role, readonly Policy[]>> = {
  viewer: policiesOf("viewer"),
  agent: policiesOf("agent"),
  outpost: policiesOf("outpost"),
  operator: policiesOf("operator"),
  admin: policiesOf("admin"),
};

/** The policy of each role that allows an action, found once: every call asks for one. */
const GRANTS: ReadonlyMap<Role, ReadonlyMap<string, Policy>> = new Map(
  ROLES.map((role) => [role, grantsOf(ROLE_POLICIES[role])]),
);

function grantsOf(policies: readonly Policy[]): ReadonlyMap<string, Policy> {
  const found = new Map<string, Policy>();
  for (const action of ACTIONS) {
    const fit = policies.filter((each) => matches(each.action, action));
    const [first] = fit;
    if (first && fit.every(({ effect }) => effect === "allow")) found.set(action, first);
  }
  return found;
}

/** The policy by which one of these roles allows the action; nothing where none does. */
export function grantOf(roles: readonly Role[], action: string): Policy | undefined {
  for (const role of roles) {
    const policy = GRANTS.get(role)?.get(action);
    if (policy) return policy;
  }
  return undefined;
}
