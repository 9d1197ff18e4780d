/**
 * A lease lists, for each namespace, the patterns of what a job may touch. It is asked
 * for when the job is submitted, made canonical, bounded by what its submitter is entitled to, and
 * never grows afterwards; what a job passes on to a child is a part of its own.
 *
 *   expiry   before it, the lease holds; from that moment on nothing is allowed
 *   budget   see budget.ts; it stands in the lease as the namespace cost.budget
 *   patterns the rest; an empty list, or none, allows nothing
 */
import { refuse, type Refusal } from "../decide.ts";
import { asLine } from "../fields.ts";
import { exhaustedCurrency, parseBudget, type Budget, type Purse } from "./budget.ts";
import { compileGlob, matchesGlob, type Glob } from "./glob.ts";
import { LEASE } from "./limits.ts";
import { canonicalPattern, canonicalTarget, type TargetForm } from "./targets.ts";

const RESERVED: ReadonlyMap<string, TargetForm> = new Map([
  ["fs.read", "path"],
  ["fs.write", "path"],
  ["net.fetch", "url"],
  ["tool.call", "name"],
  ["agent.delegate", "name"],
  ["cost.budget", "name"],
  ["model.use", "name"],
]);

const VENDOR = /^x-vendor(?:\.[a-z0-9_-]+)+$/;
const BUDGET_NAME = "cost.budget";

/** Namespace → patterns, as on the wire. */
export type LeaseRequest = Readonly<Record<string, readonly string[]>>;

/** The rights granted to a job: canonical, and compiled for checks. */
export interface JobLease {
  /** As it is told: without surprises, and the same after reading it again. */
  readonly granted: LeaseRequest;
  readonly globs: ReadonlyMap<string, readonly Glob[]>;
  /** Undefined where the lease sets none: then nothing is counted. */
  readonly budget: Budget | undefined;
  /** Infinity where it does not expire. */
  readonly expiresAtMs: number;
}

export type ParsedLease = { readonly ok: true; readonly lease: JobLease } | Refusal;

function isNamespace(name: string): boolean {
  return RESERVED.has(name) || (name.length <= LEASE.nameLength && VENDOR.test(name));
}

function formOf(namespace: string): TargetForm {
  return RESERVED.get(namespace) ?? "name";
}

/** Checks a lease and makes its patterns canonical. */
export function parseLease(request: LeaseRequest, expiresAtMs = Infinity): ParsedLease {
  const names = Object.keys(request);
  if (names.length === 0 && expiresAtMs === Infinity) return EMPTY;
  if (names.length > LEASE.namespaces) {
    return refuse("INVALID_ARGUMENT", `a lease has at most ${LEASE.namespaces} namespaces`);
  }
  const granted: Record<string, readonly string[]> = {};
  const globs = new Map<string, readonly Glob[]>();
  let budget: Budget | undefined;
  for (const name of names) {
    const patterns = request[name] ?? [];
    const problem = problemOf(name, patterns);
    if (problem !== undefined) return refuse("INVALID_ARGUMENT", problem);
    if (name === BUDGET_NAME) {
      const parsed = parseBudget(patterns);
      if (!parsed.ok) return parsed;
      ({ budget } = parsed);
      granted[name] = patterns;
      continue;
    }
    const canonical = patterns.map((pattern) => canonicalPattern(formOf(name), pattern) ?? "");
    if (canonical.includes("")) return refuse("INVALID_ARGUMENT", `${name} has ${BAD_PATTERN}`);
    granted[name] = canonical;
    globs.set(name, canonical.map(compileGlob));
  }
  return { ok: true, lease: { granted, globs, budget, expiresAtMs } };
}

/** Most jobs ask for nothing. */
export const NO_LEASE: JobLease = {
  granted: {},
  globs: new Map(),
  budget: undefined,
  expiresAtMs: Infinity,
};
const EMPTY: ParsedLease = { ok: true, lease: NO_LEASE };

const BAD_PATTERN = "a pattern that is empty, leads up (..), or is none of its kind";

function problemOf(name: string, patterns: readonly string[]): string | undefined {
  if (!isNamespace(name)) {
    return `unknown lease namespace ${JSON.stringify(asLine(name, LEASE.nameLength))}`;
  }
  if (patterns.length > LEASE.patterns) return `${name} has more than ${LEASE.patterns} patterns`;
  const isLong = patterns.some((pattern) => pattern.length > LEASE.patternLength);
  return isLong
    ? `${name} has a pattern of more than ${LEASE.patternLength} characters`
    : undefined;
}

/** A lease must not have expired already when its job is submitted. */
export function checkExpiry(expiresAtMs: number, nowMs: number): Refusal | undefined {
  if (expiresAtMs > nowMs) return undefined;
  return refuse("INVALID_ARGUMENT", "the lease expires at a moment that is not in the future");
}

export interface LeasedOperation {
  readonly namespace: string;
  readonly target: string;
  readonly nowMs: number;
  /** Undefined where nothing is counted. */
  readonly purse?: Purse | undefined;
}

const SHOWN_LENGTH = 128;

/** Why a job may not do something; undefined when it may. The gravest reason comes first. */
export function authorize(lease: JobLease, operation: LeasedOperation): Refusal | undefined {
  const { namespace, target, nowMs, purse } = operation;
  if (nowMs >= lease.expiresAtMs) return refuse("LEASE_EXPIRED", "the lease has expired");
  const exhausted = purse && exhaustedCurrency(purse);
  if (exhausted !== undefined) {
    return refuse("BUDGET_EXHAUSTED", `the budget in ${exhausted} is used up`);
  }
  if (allows(lease, namespace, target)) return undefined;
  const shown = JSON.stringify(asLine(target, SHOWN_LENGTH));
  return refuse("PERMISSION_DENIED", `the lease does not allow ${namespace} of ${shown}`);
}

/** Whether some pattern of the lease covers a target, whatever the time and the budget. */
export function allows(lease: JobLease, namespace: string, target: string): boolean {
  const globs = lease.globs.get(namespace);
  if (!globs || globs.length === 0 || target.length > LEASE.targetLength) return false;
  const canonical = canonicalTarget(formOf(namespace), target);
  return canonical !== undefined && globs.some((glob) => matchesGlob(glob, canonical));
}
