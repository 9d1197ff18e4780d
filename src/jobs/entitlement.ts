/**
 * Which jobs policy lets a principal submit, and under which lease. Policies are those that every
 * other check asks, in these words:
 *
 *   subject    the principal, as its token or the door names it (`local` without tokens); role:NAME
 *              for a denial to a role
 *   action     job.submit          resource  agent:NAME, also of every version; agent:NAME@VERSION
 *              job.watch                     to follow the jobs of others: only where a policy
 *                                            allows it by this very name, not by a pattern
 *              fs.read, tool.call, …         a pattern of the lease, in which * is any text
 *              cost.budget                   USD:5, the most a job may spend
 *
 * Running a job needs no policies: where none allows submitting, or something of a
 * namespace of the lease, to anybody, there is no bound. The first that does, by its name or by a
 * pattern, is the start of a list: from then on what is not allowed is refused. A denial always
 * counts.
 */
import { RollcallError } from "../core/errors.ts";
import { agentRefOf } from "../core/jobs/agent-ref.ts";
import { parseBudget, type Budget } from "../core/jobs/budget.ts";
import { compileGlob } from "../core/jobs/glob.ts";
import type { Entitlement } from "../core/jobs/lease-subset.ts";
import type { JobLease } from "../core/jobs/lease.ts";
import { checkPolicy, isGoverned, type Policies, type Policy } from "../core/policies.ts";
import { matches, mayMatchBeginning } from "../core/patterns.ts";
import { subjectOf } from "../core/roles.ts";
import type { Engine } from "../engine/engine.ts";
import type { JobAuthorizer, SubmitQuestion } from "./observer.ts";

/** The prefix of agent names as resources. */
const AGENT = "agent:";
const SUBMIT = "job.submit";
const WATCH = "job.watch";
const BUDGET = "cost.budget";
/** Subjects whose rules are kept at hand; policies seldom change, and principals are few. */
const KEPT_SUBJECTS = 1_000;

export interface PolicyAuthorizerOptions {
  readonly engine: Pick<Engine, "peek">;
}

export function policyAuthorizer({ engine }: PolicyAuthorizerOptions): JobAuthorizer {
  const kept = new KeptRules();
  return {
    entitle(question) {
      return engine.peek(({ policies }) =>
        entitle(policies, policiesOn(question, kept, policies), question),
      );
    },
    maySee(principal, { agent }, roles = []) {
      return engine.peek(({ policies }) => {
        const names = namesOf(agent);
        const isDenied = [principal, ...roles.map(subjectOf)].some((subject) =>
          deniesWatching(policies, subject, names),
        );
        return !isDenied && mayWatch(policies, principal, names);
      });
    },
  };
}

/** The policies on a principal and, as at the doors, the denials of its roles. */
function policiesOn(
  { principal, roles }: SubmitQuestion,
  kept: KeptRules,
  policies: Policies,
): readonly Policy[] {
  const onRoles = roles.flatMap((role) => kept.of(policies, subjectOf(role)));
  const denials = onRoles.filter(({ effect }) => effect === "deny");
  // One on everybody is on both.
  return [...new Set([...kept.of(policies, principal), ...denials])];
}

function deniesWatching(policies: Policies, subject: string, names: readonly string[]): boolean {
  return names.some(
    (resource) =>
      checkPolicy(policies, { subject, action: WATCH, resource }).policy?.effect === "deny",
  );
}

function mayWatch(policies: Policies, subject: string, names: readonly string[]): boolean {
  const named = [...(policies.allowing.get(WATCH)?.values() ?? [])];
  return named.some(
    (policy) =>
      matches(policy.subject, subject) && names.some((name) => matches(policy.resource, name)),
  );
}

/** The policies of a principal or a role, allowances and denials. */
class KeptRules {
  #policies: Policies | undefined;
  #changes = 0;
  readonly #bySubject = new Map<string, readonly Policy[]>();

  of(policies: Policies, subject: string): readonly Policy[] {
    if (this.#policies !== policies || this.#changes !== policies.changes) {
      this.#policies = policies;
      this.#changes = policies.changes;
      this.#bySubject.clear();
    }
    const known = this.#bySubject.get(subject);
    if (known) return known;
    if (this.#bySubject.size >= KEPT_SUBJECTS) this.#bySubject.clear();
    const own = [...policies.byId.values()].filter((policy) => matches(policy.subject, subject));
    this.#bySubject.set(subject, own);
    return own;
  }
}

function entitle(
  policies: Policies,
  own: readonly Policy[],
  question: SubmitQuestion,
): Entitlement | undefined {
  mayRun(policies, question);
  return policies.byId.size === 0 ? undefined : boundsOf(policies, own, question.lease);
}

function mayRun(policies: Policies, { principal, roles, agent }: SubmitQuestion): void {
  const verdictsOn = (subject: string) =>
    namesOf(agent).map((resource) => checkPolicy(policies, { subject, action: SUBMIT, resource }));
  const verdicts = verdictsOn(principal);
  // Policies on a role narrow it, as at the doors: only their denials count.
  const onRoles = roles.flatMap((role) => verdictsOn(subjectOf(role)));
  const denied = [...verdicts, ...onRoles].find(({ policy }) => policy?.effect === "deny");
  const isFree = !isGoverned(policies, SUBMIT, (each) => mayMatchBeginning(each, AGENT));
  if (!denied && (isFree || verdicts.some(({ allowed }) => allowed))) return;
  const why = (denied ?? verdicts[0])?.reason ?? "";
  throw new RollcallError("PERMISSION_DENIED", `${principal} may not submit to ${agent}: ${why}`);
}

/** As `agent:NAME@VERSION`, where it has one, and as `agent:NAME`. */
function namesOf(agent: string): readonly string[] {
  const name = agentRefOf(agent)?.name ?? agent;
  return name === agent ? [AGENT + name] : [AGENT + name, AGENT + agent];
}

/** The bounds of each requested namespace by policy; where there is none, the request itself. */
function boundsOf(
  policies: Policies,
  own: readonly Policy[],
  lease: JobLease,
): Entitlement | undefined {
  const granted: Record<string, readonly string[]> = {};
  const denied: Record<string, readonly string[]> = {};
  for (const namespace of lease.globs.keys()) {
    const about = own.filter(({ action }) => matches(action, namespace));
    denied[namespace] = patternsOf(about, "deny");
    granted[namespace] = isGoverned(policies, namespace)
      ? patternsOf(about, "allow")
      : (lease.granted[namespace] ?? []);
  }
  const globs = new Map(
    Object.entries(granted).map(([namespace, patterns]) => [namespace, patterns.map(compileGlob)]),
  );
  const isBudget = (resource: string) => parseBudget([resource]).ok;
  const budget = isGoverned(policies, BUDGET, isBudget) ? budgetOf(own) : undefined;
  return {
    allowed: { granted, globs, budget, expiresAtMs: Infinity },
    denied,
    beyond: "refuse",
  };
}

/** In a policy `*` is any text, in a lease only what has no slash in it. */
function patternsOf(policies: readonly Policy[], effect: Policy["effect"]): readonly string[] {
  return policies
    .filter((policy) => policy.effect === effect)
    .map(({ resource }) => resource.replaceAll(/\*+/g, "**"));
}

/** Of each currency the most that any allowance grants. One that cannot be read grants nothing. */
function budgetOf(own: readonly Policy[]): Budget {
  const most = new Map<string, bigint>();
  for (const { action, effect, resource } of own) {
    const isMeant = effect === "allow" && matches(action, BUDGET);
    const parsed = isMeant ? parseBudget([resource]) : undefined;
    if (!parsed?.ok) continue;
    for (const [currency, amount] of parsed.budget) {
      most.set(
        currency,
        amount > (most.get(currency) ?? -1n) ? amount : (most.get(currency) ?? 0n),
      );
    }
  }
  return most;
}
