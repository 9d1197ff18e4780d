/**
 * The one decision in front of every call: may this caller do this action to this resource?
 *
 *   its roles allow the action? ──no──▶ denied (but /metrics to a trusted network)
 *            │ yes
 *   it is an admin? ──yes──▶ allowed
 *            │ no
 *   a policy denies it, to the caller by name or to its role? ──yes──▶ denied
 *            │ no
 *         allowed
 *
 * So policies narrow what a role may do, and never widen it: an allowance that people set is about
 * what agents ask (`policy.check`, jobs), not about the doors. An admin is not narrowed: it could
 * delete the policy anyway, and a slip must not lock everybody out.
 */
import { RollcallError } from "./errors.ts";
import { checkPolicy, type Policies, type Policy, type Verdict } from "./policies.ts";
import { isNetwork, type Principal } from "./principals.ts";
import { grantOf, subjectOf, type Action } from "./roles.ts";

/** The right that a call needs. `{taskId}` in its resource stands for that field of the input. */
export interface Access {
  readonly action: Action;
  readonly resource: string;
}

type Caller = Pick<Principal, "name" | "roles">;

/** The verdict and the policy that decided. */
export function judge(
  policies: Policies,
  caller: Caller,
  { action, resource }: { readonly action: string; readonly resource: string },
): Verdict {
  const { name, roles } = caller;
  const grant = grantTo(caller, action);
  if (!grant) {
    const reason = `no role of ${name} (${roles.join(", ")}) allows ${action}`;
    return { allowed: false, reason, policy: undefined };
  }
  if (policies.narrowing.size > 0 && !roles.includes("admin")) {
    for (const subject of subjectsOf(caller)) {
      const verdict = checkPolicy(policies, { subject, action, resource });
      if (verdict.policy?.effect === "deny") return verdict;
    }
  }
  return { allowed: true, reason: `allowed by policy "${grant.id}"`, policy: grant };
}

/** Scrapers of metrics present nothing: a network that is trusted may read them in any role. */
const METRICS: Policy = {
  id: "network/metrics.read",
  subject: "net:*",
  action: "metrics.read",
  resource: "*",
  effect: "allow",
};

function grantTo(caller: Caller, action: string): Policy | undefined {
  const grant = grantOf(caller.roles, action);
  if (grant || action !== METRICS.action || !isNetwork(caller)) return grant;
  return METRICS;
}

/** The subjects that a policy may name to mean this caller. */
export function subjectsOf({ name, roles }: Caller): readonly string[] {
  return [name, ...roles.map(subjectOf)];
}

/** Throws where the caller may not. While no policy narrows anything this is a look-up. */
export function permit(policies: Policies, caller: Caller, access: Access): void {
  const { action, resource } = access;
  if (policies.narrowing.size === 0 && grantTo(caller, action)) return;
  const { allowed, policy } = judge(policies, caller, access);
  if (allowed) return;
  const { name, roles } = caller;
  const why = policy ? ` ${resource}: denied by policy "${policy.id}"` : "";
  const message = `${name} (${roles.join(", ")}) may not ${action}${why}`;
  throw new RollcallError("PERMISSION_DENIED", message);
}

const FIELD = /\{(\w+)\}/g;

/** The same with the fields of an input in its resource. */
export function accessTo(access: Access, input: object): Access {
  const { action, resource } = access;
  if (!resource.includes("{")) return access;
  const fields = input as Readonly<Record<string, unknown>>;
  const filled = resource.replaceAll(FIELD, (_, field: string) => {
    const value = fields[field];
    return typeof value === "string" ? value : "";
  });
  return { action, resource: filled };
}
