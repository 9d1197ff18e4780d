/**
 * What one job was granted: its lease, and the purse that goes with it. The rules are core's; here
 * a refusal becomes an error.
 */
import type { Refusal } from "../core/decide.ts";
import { RollcallError } from "../core/errors.ts";
import {
  charge,
  costOf,
  isWorthTelling,
  openChildPurse,
  openPurse,
  remainingMetric,
  remainingOf,
  settle,
  type Budget,
  type Purse,
} from "../core/jobs/budget.ts";
import { amountOfNumber, amountText, type Amount } from "../core/jobs/decimal.ts";
import type { MetricBody } from "../core/jobs/events.ts";
import {
  authorize,
  checkExpiry,
  parseLease,
  type Lease,
  type LeaseRequest,
} from "../core/jobs/lease.ts";
import { checkSubset, inherited } from "../core/jobs/lease-subset.ts";

const NOTHING: Budget = new Map();

export class Grant {
  readonly lease: Lease;
  readonly #purse: Purse;
  /** What was last told of each currency. */
  #told: Map<string, Amount> | undefined;

  constructor(lease: Lease, purse: Purse) {
    this.lease = lease;
    this.#purse = purse;
  }

  /** Namespace → patterns, as it is told. */
  get shape(): LeaseRequest {
    return this.lease.granted;
  }

  get expiresAtMs(): number | undefined {
    return this.lease.expiresAtMs === Infinity ? undefined : this.lease.expiresAtMs;
  }

  /** What is left, exactly. */
  get remaining(): Budget {
    return remainingOf(this.#purse);
  }

  /** Of its own purse, as the ledger keeps it; undefined for none. */
  counters(): Readonly<Record<string, string>> | undefined {
    const { remaining } = this.#purse;
    if (remaining.size === 0) return undefined;
    return Object.fromEntries([...remaining].map(([name, left]) => [name, amountText(left)]));
  }

  /** Under the names of the lease, for those who make credentials. */
  constraints(): Readonly<Record<string, unknown>> {
    const { shape, expiresAtMs } = this;
    const [budget, models] = [shape["cost.budget"], shape["model.use"]];
    return {
      ...(budget && { "cost.budget": budget }),
      ...(models && { "model.use": models }),
      ...(expiresAtMs !== undefined && { expires_at: new Date(expiresAtMs).toISOString() }),
    };
  }

  check(namespace: string, target: string, nowMs: number): void {
    refuse(authorize(this.lease, { namespace, target, nowMs, purse: this.#purse }));
  }

  /** Takes the cost a metric reports; gives what is left, as a metric, when it is worth telling. */
  charge(metric: MetricBody): { readonly left: MetricBody | undefined } | undefined {
    const cost = costOf(metric);
    if (cost && "ok" in cost) refuse(cost);
    if (!cost || "ok" in cost || !charge(this.#purse, cost.currency, cost.amount)) return undefined;
    const { currency } = cost;
    const left = this.remaining.get(currency) ?? 0n;
    const granted = this.#purse.granted.get(currency) ?? 0n;
    if (!isWorthTelling(granted, this.#told?.get(currency) ?? granted, left)) {
      return { left: undefined };
    }
    this.#told ??= new Map();
    this.#told.set(currency, left);
    return { left: remainingMetric(currency, left) };
  }

  /** A part of it for a child: covered by this lease, and its budget set aside. */
  forChild(wanted: Lease): Grant {
    refuse(checkSubset(wanted, this.lease, this.#purse));
    const opened = openChildPurse(this.#purse, wanted.budget ?? NOTHING);
    if (!opened.ok) throw new RollcallError(opened.code, opened.reason);
    return new Grant(inherited(wanted, this.lease), opened.purse);
  }

  /** The job ended: what it did not spend is its parent's again. Idempotent. */
  settle(): void {
    settle(this.#purse);
  }

  /** As the ledger knew it. */
  static restore(kept: KeptGrant): Grant {
    const lease = parse(kept.lease, kept.expires);
    const purse = openPurse(lease.budget ?? NOTHING);
    for (const [currency, text] of Object.entries(kept.budget ?? {})) {
      purse.remaining.set(currency, amountOfNumber(text) ?? 0n);
    }
    const parent = kept.parent ? kept.parent.#purse : undefined;
    return new Grant(lease, { ...purse, parent, isSettled: kept.isOver });
  }
}

export interface KeptGrant {
  readonly lease: LeaseRequest;
  readonly expires: number | undefined;
  readonly budget: Readonly<Record<string, string>> | undefined;
  readonly parent: Grant | undefined;
  readonly isOver: boolean;
}

/** A lease as it was asked for, checked. */
export function leaseOf(
  shape: LeaseRequest,
  expiresAtMs: number | undefined,
  nowMs: number,
): Lease {
  if (expiresAtMs !== undefined) refuse(checkExpiry(expiresAtMs, nowMs));
  return parse(shape, expiresAtMs);
}

export function newGrant(lease: Lease): Grant {
  return new Grant(lease, openPurse(lease.budget ?? NOTHING));
}

/** Most jobs ask for nothing: they share what that is. */
const NO_LEASE: Lease = { granted: {}, globs: new Map(), budget: undefined, expiresAtMs: Infinity };

function parse(shape: LeaseRequest, expiresAtMs = Infinity): Lease {
  if (expiresAtMs === Infinity && isEmpty(shape)) return NO_LEASE;
  const parsed = parseLease(shape, expiresAtMs);
  if (!parsed.ok) throw new RollcallError(parsed.code, parsed.reason);
  return parsed.lease;
}

function refuse(refusal: Refusal | undefined): void {
  if (refusal) throw new RollcallError(refusal.code, refusal.reason);
}

function isEmpty(shape: LeaseRequest): boolean {
  for (const _ in shape) return false;
  return true;
}
