/**
 * The money of a job. A budget is written `USD:5.00`, several currencies side by side; costs that
 * the job reports are taken off, and once any counter is used up the job may do nothing more that
 * needs a lease. A counter may go below zero: the cost was already spent when it was told.
 *
 *   parent   ├──── spent ────┼── reserved for children ──┼──── remaining ────┤
 *   child                    ├── spent ──┼── remaining ──┤
 *                                        └── given back when the child ends ──▶
 *
 * A child's budget leaves its parent's counter when the child begins, so siblings can never spend
 * the same money twice. A currency that a child has no budget of its own for is its parent's: what
 * the child spends there is the parent's cost, or leaving a budget out would be a way around it.
 */
import { refuse, type Refusal } from "../decide.ts";
import { amountOf, amountOfNumber, amountText, type Amount } from "./decimal.ts";
import type { MetricBody } from "./events.ts";
import { BUDGET } from "./limits.ts";

/** Currency → amount. */
export type Budget = ReadonlyMap<string, Amount>;

export type ParsedBudget = { readonly ok: true; readonly budget: Budget } | Refusal;

const CURRENCY = /^[A-Za-z][A-Za-z0-9_-]*$/;

/** Reads `["USD:5.00", "credits:10"]`. Repeated currencies add up; zero is legal. */
export function parseBudget(entries: readonly string[]): ParsedBudget {
  const budget = new Map<string, Amount>();
  for (const entry of entries) {
    const colon = entry.indexOf(":");
    const currency = entry.slice(0, Math.max(0, colon));
    const amount = amountOf(entry.slice(colon + 1));
    if (amount === undefined || !isCurrency(currency)) {
      return refuse("INVALID_ARGUMENT", "cost.budget has an entry that is not CURRENCY:AMOUNT");
    }
    budget.set(currency, (budget.get(currency) ?? 0n) + amount);
  }
  if (budget.size > BUDGET.currencies) {
    return refuse("INVALID_ARGUMENT", `cost.budget has more than ${BUDGET.currencies} currencies`);
  }
  return { ok: true, budget };
}

function isCurrency(text: string): boolean {
  return text.length <= BUDGET.currencyLength && CURRENCY.test(text);
}

/** The same budget as it is written in a lease: one entry a currency. */
export function budgetEntries(budget: Budget): readonly string[] {
  return [...budget].map(([currency, amount]) => `${currency}:${amountText(amount)}`);
}

/** The counters of one job. */
export interface Purse {
  readonly granted: Budget;
  readonly remaining: Map<string, Amount>;
  /** Pays in currencies this purse was not granted, and gets the remainder back. */
  readonly parent: Purse | undefined;
  /** Set aside for purses below that are not settled. Undefined where none ever was. */
  lent: Map<string, Amount> | undefined;
  isSettled: boolean;
}

const NOTHING: Budget = new Map();

/**
 * Its budget leaves what the purse above it has left: siblings never spend the same money twice.
 * Where that one is settled already, the next one above has set this aside.
 */
export function openPurse(granted: Budget = NOTHING, above?: Purse): Purse {
  if (granted.size === 0 && !above) return NO_PURSE;
  let parent = above;
  while (parent?.isSettled) ({ parent } = parent);
  const opened = parent && openChildPurse(parent, granted);
  if (opened?.ok) return opened.purse;
  const purse = newPurse(granted, parent);
  lend(purse);
  return purse;
}

/** Most jobs have no budget, and those that ended need none: they share one that never changes. */
export const NO_PURSE: Purse = {
  granted: NOTHING,
  remaining: new Map(),
  parent: undefined,
  lent: undefined,
  isSettled: false,
};

function newPurse(granted: Budget, parent: Purse | undefined): Purse {
  return { granted, remaining: new Map(granted), parent, lent: undefined, isSettled: false };
}

/** The remaining budget, by currency, in exact decimals. */
export type Counters = Readonly<Record<string, string>>;

/** Undefined where the purse was granted nothing of its own. */
export function countersOf({ remaining }: Purse): Counters | undefined {
  if (remaining.size === 0) return undefined;
  return Object.fromEntries([...remaining].map(([name, left]) => [name, amountText(left)]));
}

export function setCounters({ remaining }: Purse, counters: Counters): void {
  for (const [currency, text] of Object.entries(counters)) {
    remaining.set(currency, amountOfNumber(text) ?? 0n);
  }
}

export type ChildPurse = { readonly ok: true; readonly purse: Purse } | Refusal;

/** Sets a child's budget aside from what its parent has left, or says which currency is short. */
export function openChildPurse(parent: Purse, granted: Budget): ChildPurse {
  if (parent.isSettled)
    return refuse("WRONG_STATE", "the parent has ended: it cannot pass on a budget");
  const short = shortOf(parent, granted);
  if (short) return short;
  for (const [currency, amount] of granted) {
    const payer = payerOf(parent, currency);
    payer?.remaining.set(currency, remainingIn(payer, currency) - amount);
  }
  const purse = newPurse(granted, parent);
  lend(purse);
  return { ok: true, purse };
}

/** Counts what a purse was granted as set aside above it. */
function lend({ granted, parent }: Purse): void {
  for (const [currency, amount] of granted) addLent(parent, currency, amount);
}

function addLent(above: Purse | undefined, currency: string, amount: Amount): void {
  const payer = above && payerOf(above, currency);
  if (!payer || amount === 0n) return;
  payer.lent ??= new Map();
  payer.lent.set(currency, (payer.lent.get(currency) ?? 0n) + amount);
}

/** Why a purse cannot set this budget aside; undefined when it can. */
export function shortOf(parent: Purse, wanted: Budget): Refusal | undefined {
  for (const [currency, amount] of wanted) {
    const payer = payerOf(parent, currency);
    if (!payer) {
      return refuse("LEASE_SUBSET_VIOLATION", `the parent has no budget in ${currency}`);
    }
    const left = remainingIn(payer, currency);
    if (amount > left) {
      const [asked, had] = [amountText(amount), amountText(left)];
      return refuse("LEASE_SUBSET_VIOLATION", `${currency} ${asked} asked, the parent has ${had}`);
    }
  }
  return undefined;
}

/** Gives back what an ended child did not spend; what it overspent, its parent pays. Once only. */
export function settle(purse: Purse): void {
  if (purse.isSettled || !purse.parent) return;
  purse.isSettled = true;
  for (const [currency, left] of purse.remaining) {
    const payer = payerOf(purse.parent, currency);
    payer?.remaining.set(currency, remainingIn(payer, currency) + left);
    purse.remaining.set(currency, 0n);
    // The purse above counts from here on as set aside all that this one had set aside.
    const lent = purse.lent?.get(currency) ?? 0n;
    addLent(purse.parent, currency, lent - (purse.granted.get(currency) ?? 0n));
  }
}

/**
 * Takes a cost off. False where nobody has a budget in that currency: then there is nothing to
 * count. A cost that comes in late, after settlement, is the parent's.
 */
export function charge(purse: Purse, currency: string, amount: Amount): boolean {
  const payer = payerOf(purse, currency);
  if (!payer || amount < 0n) return false;
  payer.remaining.set(currency, remainingIn(payer, currency) - amount);
  return true;
}

/** The nearest purse, this one or one further up, that has a budget in a currency. */
function payerOf(purse: Purse, currency: string): Purse | undefined {
  let payer: Purse | undefined = purse;
  while (payer && (payer.isSettled || !payer.granted.has(currency))) payer = payer.parent;
  return payer;
}

function remainingIn(purse: Purse, currency: string): Amount {
  return purse.remaining.get(currency) ?? 0n;
}

/** The remainder in each currency this job may spend, its own and those it shares. */
export function remainingOf(purse: Purse): Budget {
  const left = new Map<string, Amount>();
  for (let each: Purse | undefined = purse; each; each = each.parent) {
    if (each.isSettled) continue;
    for (const [currency, amount] of each.remaining) {
      if (!left.has(currency)) left.set(currency, amount);
    }
  }
  return left;
}

/** The first currency that is used up: it blocks everything, whatever its currency. */
export function exhaustedCurrency(purse: Purse): string | undefined {
  for (const [currency, amount] of remainingOf(purse)) if (amount <= 0n) return currency;
  return undefined;
}

/**
 * The first currency of its own that a purse has spent: nothing is left, and nothing will come back
 * of what is set aside for others below it. Or it spent even more than that leaves.
 */
export function spentCurrency(purse: Purse): string | undefined {
  for (const [currency, amount] of purse.granted) {
    if (amount === 0n) continue;
    const left = remainingIn(purse, currency);
    if (left < 0n || (left === 0n && !purse.lent?.get(currency))) return currency;
  }
  return undefined;
}

export interface Cost {
  readonly currency: string;
  readonly amount: Amount;
}

const REMAINING_METRIC = "cost.budget.remaining";

/**
 * The cost in a metric: one named `cost.…` whose unit is a currency. Our own report of the
 * remainder is none. A negative cost would be a way to earn, and is refused.
 */
export function costOf({ name, value, unit }: MetricBody): Cost | Refusal | undefined {
  if (!name.startsWith("cost.") || name === REMAINING_METRIC) return undefined;
  if (value < 0) return refuse("INVALID_ARGUMENT", `body.value of ${name} is negative`);
  const amount = amountOfNumber(value);
  if (amount === undefined) return refuse("INVALID_ARGUMENT", `body.value of ${name} is too large`);
  return unit === undefined ? undefined : { currency: unit, amount };
}

/** The event that says what is left. */
export function remainingMetric(currency: string, left: Amount): MetricBody {
  return { name: REMAINING_METRIC, value: Number(amountText(left)), unit: currency };
}

/** Whether what is left changed enough to be told: by one hundredth of the grant, or past zero. */
export function isWorthTelling(granted: Amount, told: Amount, left: Amount): boolean {
  if (told > 0n !== left > 0n) return true;
  const change = told > left ? told - left : left - told;
  return change > 0n && change * 100n >= granted;
}
