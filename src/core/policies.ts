/**
 * Entitlements: who may do what to which resource. A policy allows or denies; a denial beats every
 * allowance, and where nothing matches the answer is no. Some actions are free until a policy
 * speaks of them: the first that allows one to anybody is the start of a list (`isGoverned`).
 *
 * Checks stand in front of every tool call, so a check must not try every policy: they are filed by
 * subject, and under it by resource (see patterns.ts).
 */
import { newOwner, ownerOf } from "./by.ts";
import { decided, refuse, type Decision, type Moment } from "./decide.ts";
import type { Event } from "./events.ts";
import { invalid, key } from "./fields.ts";
import { FIELD } from "./limits.ts";
import { matches, PatternIndex } from "./patterns.ts";
import { ACTIONS } from "./roles.ts";
import { beyondShare, Holdings, SHARED, wishOf } from "./shares.ts";
import type { State } from "./state.ts";

export interface Policy {
  readonly id: string;
  /** The principal that set it; absent for `local`. */
  readonly owner?: string | undefined;
  readonly subject: string;
  readonly action: string;
  readonly resource: string;
  readonly effect: "allow" | "deny";
}

type BySubjectAndResource = PatternIndex<PatternIndex<Map<string, Policy>>>;

export class Policies {
  readonly byId = new Map<string, Policy>();
  readonly holdings = new Holdings();
  readonly filed: BySubjectAndResource = new PatternIndex();
  /** The policies that allow something, by their action. */
  readonly allowing = new PatternIndex<Map<string, Policy>>();
  /** The ids of those that deny an action of this daemon: they narrow what roles allow. */
  readonly narrowing = new Set<string>();
  /** Grows with every change: for those who keep what they made of them. */
  changes = 0;
}

export type PolicyCommand =
  | { readonly type: "policy.set"; readonly policy: Omit<Policy, "owner"> }
  | { readonly type: "policy.delete"; readonly id: string };

export interface PolicyReplies {
  "policy.set": Policy;
  "policy.delete": null;
}

export type PolicyEvent =
  | { readonly type: "policy.set"; readonly policy: Policy }
  | { readonly type: "policy.deleted"; readonly id: string };

export function decidePolicy(
  state: State,
  command: PolicyCommand,
  { by }: Pick<Moment, "by">,
): Decision<Event, Policy | null> {
  const { byId, holdings } = state.policies;
  switch (command.type) {
    case "policy.set": {
      const { id, subject, action, resource, effect } = command.policy;
      const policy: Policy = { id, owner: newOwner(by), subject, action, resource, effect };
      const refusal = invalid(
        key("policy.id", id, FIELD.nameLength),
        key("policy.subject", subject),
        key("policy.action", action),
        key("policy.resource", resource),
      );
      if (refusal) return refusal;
      const wish = wishOf(holdings, ownerOf(policy));
      const full = byId.has(id) ? undefined : beyondShare(SHARED.policies, wish);
      if (full) return full;
      return decided([{ type: "policy.set", policy }], policy);
    }
    case "policy.delete": {
      const refusal = invalid(key("id", command.id, FIELD.nameLength));
      if (refusal) return refusal;
      if (!byId.has(command.id)) return refuse("NOT_FOUND", `no policy ${command.id}`);
      return decided([{ type: "policy.deleted", id: command.id }], null);
    }
  }
}

export function evolvePolicy(state: State, event: PolicyEvent): void {
  const { policies } = state;
  const { byId } = policies;
  policies.changes += 1;
  switch (event.type) {
    case "policy.set": {
      const before = byId.get(event.policy.id);
      if (before) unfile(policies, before);
      file(policies, event.policy);
      return;
    }
    case "policy.deleted": {
      const policy = byId.get(event.id);
      if (policy) unfile(policies, policy);
      return;
    }
  }
}

/**
 * Whether some policy allows this action to anybody. One that names the action in full counts in
 * any case, so that a slip in its resource closes and does not open; one that names it by a pattern
 * counts where its resource is of the kind that the action is about.
 */
export function isGoverned(
  { allowing }: Policies,
  action: string,
  isOfKind: (resource: string) => boolean = () => true,
): boolean {
  for (const byId of allowing.matching(action)) {
    for (const policy of byId.values()) {
      if (policy.action === action || isOfKind(policy.resource)) return true;
    }
  }
  return false;
}

export interface Verdict {
  readonly allowed: boolean;
  readonly reason: string;
  /** The policy that decided; none when nothing matched. */
  readonly policy: Policy | undefined;
}

/** May `subject` do `action` to `resource`? */
export interface AccessRequest {
  readonly subject: string;
  readonly action: string;
  readonly resource: string;
}

export function checkPolicy(
  policies: Policies,
  { subject, action, resource }: AccessRequest,
): Verdict {
  let decider: Policy | undefined;
  for (const byResource of policies.filed.matching(subject)) {
    for (const byId of byResource.matching(resource)) {
      for (const policy of byId.values()) {
        if (matches(policy.action, action) && outranks(policy, decider)) decider = policy;
      }
    }
  }
  if (!decider) {
    const reason = `no matching policy for ${subject} to ${action} ${resource}: denied by default`;
    return { allowed: false, reason, policy: undefined };
  }
  const allowed = decider.effect === "allow";
  const reason = `${allowed ? "allowed" : "denied"} by policy "${decider.id}"`;
  return { allowed, reason, policy: decider };
}

/** A policy that would have counted, had one field been another. */
export interface NearMiss {
  readonly policy: Policy;
  readonly failed: keyof AccessRequest;
}

const FIELDS = ["subject", "action", "resource"] as const satisfies (keyof AccessRequest)[];

/** The policies of which exactly one field does not match, in order of their ids. */
export function nearMisses(
  policies: Iterable<Policy>,
  {
    subjects,
    action,
    resource,
  }: { readonly subjects: readonly string[] } & Omit<AccessRequest, "subject">,
): readonly NearMiss[] {
  const asked = { subject: subjects, action: [action], resource: [resource] };
  const found: NearMiss[] = [];
  for (const policy of policies) {
    const [failed, another] = FIELDS.filter(
      (field) => !asked[field].some((each) => matches(policy[field], each)),
    );
    if (failed && !another) found.push({ policy, failed });
  }
  return found.toSorted((a, b) => (a.policy.id < b.policy.id ? -1 : 1));
}

/** The problem of a malformed request, so that a caller's slip is not taken for a denial. */
export function accessProblem({ subject, action, resource }: AccessRequest): string | undefined {
  return key("subject", subject) ?? key("action", action) ?? key("resource", resource);
}

/** A denial first, then the lower id: the same policy is named whatever the order they came in. */
function outranks(policy: Policy, other: Policy | undefined): boolean {
  if (!other) return true;
  if (policy.effect !== other.effect) return policy.effect === "deny";
  return policy.id < other.id;
}

function file(policies: Policies, policy: Policy): void {
  const { byId: all, holdings, filed, allowing, narrowing } = policies;
  all.set(policy.id, policy);
  holdings.add(ownerOf(policy));
  const byResource = filed.get(policy.subject) ?? new PatternIndex<Map<string, Policy>>();
  const byId = byResource.get(policy.resource) ?? new Map<string, Policy>();
  byId.set(policy.id, policy);
  byResource.set(policy.resource, byId);
  filed.set(policy.subject, byResource);
  if (policy.effect === "deny") {
    if (ACTIONS.some((action) => matches(policy.action, action))) narrowing.add(policy.id);
    return;
  }
  const ofAction = allowing.get(policy.action) ?? new Map<string, Policy>();
  allowing.set(policy.action, ofAction.set(policy.id, policy));
}

function unfile(policies: Policies, policy: Policy): void {
  const { byId: all, holdings, filed, allowing, narrowing } = policies;
  all.delete(policy.id);
  holdings.remove(ownerOf(policy));
  narrowing.delete(policy.id);
  const ofAction = allowing.get(policy.action);
  if (ofAction?.delete(policy.id) && ofAction.size === 0) allowing.delete(policy.action);
  const byResource = filed.get(policy.subject);
  const byId = byResource?.get(policy.resource);
  if (!byResource || !byId) return;
  byId.delete(policy.id);
  if (byId.size === 0) byResource.delete(policy.resource);
  if (byResource.isEmpty) filed.delete(policy.subject);
}
