/**
 * The bounds of a lease: a child's lies within its parent's, a submitter's within its entitlement
 * by policy. Patterns are compared by what they match, never by how they are written.
 */
import { refuse, type Refusal } from "../decide.ts";
import type { ErrorCode } from "../errors.ts";
import { budgetEntries, shortOf, type Budget, type Purse } from "./budget.ts";
import { coverageOf, newEffort, overlap, type Effort } from "./glob-subset.ts";
import { parseLease, type JobLease, type LeaseRequest, type ParsedLease } from "./lease.ts";

/**
 * Why a child may not have a lease: a pattern that no single pattern of its parent covers, more
 * money than its parent has left, or a longer life. An absent expiry is inherited: see `inherited`.
 */
export function checkSubset(
  child: JobLease,
  parent: JobLease,
  parentPurse?: Purse,
): Refusal | undefined {
  if (child.expiresAtMs !== Infinity && child.expiresAtMs > parent.expiresAtMs) {
    return refuse("LEASE_SUBSET_VIOLATION", "the lease expires later than the parent's");
  }
  const wider = widerThan(child, parent, "LEASE_SUBSET_VIOLATION");
  if (wider || !child.budget) return wider;
  if (parentPurse) return shortOf(parentPurse, child.budget);
  return refuse("LEASE_SUBSET_VIOLATION", "the parent has no budget to pass on");
}

/** A child's lease with its parent's expiry where it has none of its own. */
export function inherited(child: JobLease, parent: JobLease): JobLease {
  return { ...child, expiresAtMs: Math.min(child.expiresAtMs, parent.expiresAtMs) };
}

function widerThan(inner: JobLease, outer: JobLease, code: ErrorCode): Refusal | undefined {
  const effort = newEffort();
  for (const [namespace, globs] of inner.globs) {
    const allowed = outer.granted[namespace] ?? [];
    for (const { pattern } of globs) {
      const problem = uncovered(pattern, allowed, effort);
      if (problem !== undefined) return refuse(code, `${namespace} ${problem}`);
    }
  }
  return undefined;
}

/** Why no single one of some patterns covers a pattern. */
function uncovered(
  pattern: string,
  allowed: readonly string[],
  effort: Effort,
): string | undefined {
  if (allowed.includes(pattern)) return undefined;
  let why = "is not granted at all";
  for (const outer of allowed) {
    const coverage = coverageOf(pattern, outer, effort);
    if (coverage.covered) return undefined;
    why =
      coverage.because === "wider"
        ? `asks for more than is granted, for example ${JSON.stringify(coverage.example)}`
        : "has patterns that are too complex to compare";
  }
  return why;
}

/** The bounds that policy sets to a principal's leases. */
export interface Entitlement {
  /** The most it may ask for; undefined where policy sets no bound. */
  readonly allowed?: JobLease;
  /** Never granted, not even in part. */
  readonly denied?: LeaseRequest;
  /** Beyond the bound: refuse the request, or grant the part that lies within. */
  readonly beyond: "refuse" | "narrow";
}

/** Bounds a requested lease by what its submitter is entitled to. */
export function boundLease(requested: JobLease, entitlement: Entitlement): ParsedLease {
  const { allowed, denied = {}, beyond } = entitlement;
  if (beyond === "narrow") return narrowed(requested, entitlement);
  const wider = allowed && widerThan(requested, allowed, "PERMISSION_DENIED");
  if (wider) return wider;
  const effort = newEffort();
  for (const [namespace, globs] of requested.globs) {
    const hit = globs.find(({ pattern }) => isDenied(pattern, denied[namespace] ?? [], effort));
    if (!hit) continue;
    const reason = `${namespace} ${JSON.stringify(hit.pattern)} includes what policy denies`;
    return refuse("PERMISSION_DENIED", reason);
  }
  const over = allowed?.budget && overBudget(requested.budget, allowed.budget);
  if (over) return over;
  return { ok: true, lease: withBounds(requested, allowed) };
}

function isDenied(pattern: string, denied: readonly string[], effort: Effort): boolean {
  // An overlap too costly to decide counts as one.
  return denied.some((other) => overlap(pattern, other, effort) !== false);
}

function overBudget(requested: Budget | undefined, allowed: Budget): Refusal | undefined {
  for (const [currency, amount] of requested ?? []) {
    if (amount > (allowed.get(currency) ?? 0n)) {
      return refuse("PERMISSION_DENIED", `cost.budget asks for more ${currency} than is allowed`);
    }
  }
  return undefined;
}

/** A request without a budget, or without an end, gets the bound: omission is no way around it. */
function withBounds(requested: JobLease, allowed: JobLease | undefined): JobLease {
  if (!allowed) return requested;
  const budget = allowed.budget && lesser(requested.budget ?? allowed.budget, allowed.budget);
  const expiresAtMs = Math.min(requested.expiresAtMs, allowed.expiresAtMs);
  if (!budget) return { ...requested, expiresAtMs };
  const granted = { ...requested.granted, "cost.budget": budgetEntries(budget) };
  return { ...requested, granted, budget, expiresAtMs };
}

/** Of each currency of the bound the lesser amount; other currencies may not be spent. */
function lesser(requested: Budget, bound: Budget): Budget {
  return new Map(
    [...bound].map(([currency, most]) => {
      const asked = requested.get(currency);
      return [currency, asked !== undefined && asked < most ? asked : most];
    }),
  );
}

/** The part of a lease that lies within: whole patterns, the narrower of each pair. */
function narrowed(requested: JobLease, { allowed, denied = {} }: Entitlement): ParsedLease {
  const effort = newEffort();
  const granted: Record<string, readonly string[]> = {};
  for (const [namespace, globs] of requested.globs) {
    const bounds = allowed ? (allowed.granted[namespace] ?? []) : ["**"];
    const within = globs.flatMap(({ pattern }) => narrower(pattern, bounds, effort));
    granted[namespace] = [...new Set(within)].filter(
      (pattern) => !isDenied(pattern, denied[namespace] ?? [], effort),
    );
  }
  const { budget } = withBounds(requested, allowed);
  if (budget) granted["cost.budget"] = budgetEntries(budget);
  return parseLease(granted, Math.min(requested.expiresAtMs, allowed?.expiresAtMs ?? Infinity));
}

function narrower(pattern: string, bounds: readonly string[], effort: Effort): readonly string[] {
  if (bounds.some((bound) => coverageOf(pattern, bound, effort).covered)) return [pattern];
  return bounds.filter((bound) => coverageOf(bound, pattern, effort).covered);
}
