import { array, assert, bigInt, constantFrom, double, nat, property, tuple } from "fast-check";
import { expect, test } from "vitest";
import {
  budgetEntries,
  charge,
  costOf,
  exhaustedCurrency,
  isWorthTelling,
  openChildPurse,
  openPurse,
  parseBudget,
  remainingMetric,
  remainingOf,
  settle,
  spentCurrency,
  type Budget,
  type Purse,
} from "./budget.ts";
import { amountOf, amountOfNumber, amountText } from "./decimal.ts";
import { BUDGET } from "./limits.ts";

function budget(...entries: readonly string[]): Budget {
  const parsed = parseBudget(entries);
  if (!parsed.ok) throw new Error(parsed.reason);
  return parsed.budget;
}

function amount(text: string): bigint {
  return amountOfNumber(text) ?? 0n;
}

function left(purse: Purse): readonly string[] {
  return budgetEntries(remainingOf(purse));
}

function child(parent: Purse, ...entries: readonly string[]): Purse {
  const opened = openChildPurse(parent, budget(...entries));
  if (!opened.ok) throw new Error(opened.reason);
  return opened.purse;
}

test("amounts are exact where floats drift", () => {
  const sum = amount("0.1") + amount("0.2");
  expect(amountText(sum)).toBe("0.3");
  expect(amountText(amount("5.00"))).toBe("5");
  expect(amountText(amount("-0.12"))).toBe("-0.12");
  expect(amountOfNumber(1e-5)).toBe(amount("0.00001"));
  expect(amountOfNumber(1.5e21)).toBe(amountOf("1500000000000000000000"));
});

test("a number is worth its shortest decimal text, to the last digit", () => {
  const aNumber = double({ noNaN: true, noDefaultInfinity: true, min: 1e-7, max: 1e15 });
  const holds = property(aNumber, (value) => {
    expect(Number(amountText(amountOfNumber(value) ?? -1n))).toBe(value);
  });
  assert(holds);
});

test("what is written is read again as the same amount", () => {
  const holds = property(bigInt({ min: -(10n ** 40n), max: 10n ** 40n }), (value) => {
    expect(amountOfNumber(amountText(value))).toBe(value);
  });
  assert(holds);
});

test("a cost too small for the smallest unit still counts", () => {
  expect(amountOfNumber(5e-324)).toBe(1n);
  expect(amountOfNumber(1e300)).toBeUndefined();
  expect(amountOfNumber(Number.NaN)).toBeUndefined();
  expect(amountOf("1e3")).toBeUndefined();
});

// "USD:5 + USD:3 sum to 8; EUR:0 legal"
test("repeated currencies add up, and nothing is a budget too", () => {
  expect(budgetEntries(budget("USD:5", "USD:3", "EUR:0"))).toEqual(["USD:8", "EUR:0"]);
  expect(budgetEntries(budget("USD:5.00", "USD:0.50", "credits:10"))).toEqual([
    "USD:5.5",
    "credits:10",
  ]);
});

// "USD-5, USD:, :5, 5:USD, USD:-1 invalid"
test.each(["USD-5", "USD:", ":5", "5:USD", "USD:-1", "USD:1e3", "USD:.5", "USD:1.", "USD: 1", ""])(
  "%j is no budget",
  (entry) => {
    expect(parseBudget([entry])).toMatchObject({ ok: false, code: "INVALID_ARGUMENT" });
  },
);

test("a budget has bounds: digits, currencies, and the names of currencies", () => {
  expect(parseBudget([`USD:${"9".repeat(BUDGET.wholeDigits + 1)}`])).toMatchObject({ ok: false });
  expect(parseBudget([`USD:0.${"0".repeat(BUDGET.fractionDigits)}1`])).toMatchObject({ ok: false });
  expect(parseBudget([`${"U".repeat(BUDGET.currencyLength + 1)}:1`])).toMatchObject({ ok: false });
  const many = Array.from({ length: BUDGET.currencies + 1 }, (_, i) => `C${i}:1`);
  expect(parseBudget(many)).toMatchObject({ ok: false });
});

// "0.70 + 0.40 against 1.00 blocks the next authorize"
test("a counter may go below zero, and then blocks", () => {
  const purse = openPurse(budget("USD:1.00"));
  charge(purse, "USD", amount("0.70"));
  expect(exhaustedCurrency(purse)).toBeUndefined();
  charge(purse, "USD", amount("0.40"));
  expect(left(purse)).toEqual(["USD:-0.1"]);
  expect(exhaustedCurrency(purse)).toBe("USD");
});

// "any counter ≤ 0 blocks every gated operation, whatever its currency"
test("zero is used up at once, and one used-up currency is enough", () => {
  expect(exhaustedCurrency(openPurse(budget("USD:5", "EUR:0")))).toBe("EUR");
  expect(exhaustedCurrency(openPurse(budget("USD:5")))).toBeUndefined();
  expect(exhaustedCurrency(openPurse(budget()))).toBeUndefined();
});

test.each([
  [{ name: "cost.inference", value: 0.0234, unit: "USD" }, "0.0234"],
  [{ name: "cost.inference", value: 1e-5, unit: "USD" }, "0.00001"],
  [{ name: "cost.budget.remaining", value: 4, unit: "USD" }, undefined],
  [{ name: "tokens.in", value: 10, unit: "USD" }, undefined],
  [{ name: "tokens.in", value: -10 }, undefined],
  [{ name: "cost.inference", value: 3 }, undefined],
])("%j costs %s", (metric, cost) => {
  const found = costOf(metric);
  expect(found && "amount" in found ? amountText(found.amount) : undefined).toBe(cost);
});

// "negative cost.* raises"
test("a negative cost is refused: nobody earns by reporting", () => {
  const refused = costOf({ name: "cost.refund", value: -1, unit: "USD" });
  expect(refused).toMatchObject({ ok: false, code: "INVALID_ARGUMENT" });
  const purse = openPurse(budget("USD:1"));
  expect(charge(purse, "USD", -1n)).toBe(false);
  expect(left(purse)).toEqual(["USD:1"]);
});

test("what is left is told by a metric, when it changed by a hundredth or passed zero", () => {
  expect(remainingMetric("USD", amount("5.4766"))).toEqual({
    name: "cost.budget.remaining",
    value: 5.4766,
    unit: "USD",
  });
  const granted = amount("100");
  expect(isWorthTelling(granted, amount("50"), amount("49.01"))).toBe(false);
  expect(isWorthTelling(granted, amount("50"), amount("49"))).toBe(true);
  expect(isWorthTelling(granted, amount("0.001"), amount("0"))).toBe(true);
  expect(isWorthTelling(granted, amount("50"), amount("50"))).toBe(false);
});

test("what a child may spend is set aside, and what it did not spend comes back once", () => {
  const parent = openPurse(budget("USD:10"));
  const first = child(parent, "USD:6");
  expect(left(parent)).toEqual(["USD:4"]);
  expect(openChildPurse(parent, budget("USD:4.01"))).toMatchObject({
    ok: false,
    code: "LEASE_SUBSET_VIOLATION",
    reason: "USD 4.01 asked, the parent has 4",
  });
  expect(openChildPurse(parent, budget("EUR:1"))).toMatchObject({ ok: false });
  charge(first, "USD", amount("1.5"));
  settle(first);
  settle(first);
  expect(left(parent)).toEqual(["USD:8.5"]);
});

test("what a child overspent, or spends after its end, its parent pays", () => {
  const parent = openPurse(budget("USD:10"));
  const spender = child(parent, "USD:1");
  charge(spender, "USD", amount("3"));
  settle(spender);
  expect(left(parent)).toEqual(["USD:7"]);
  charge(spender, "USD", amount("2"));
  expect(left(parent)).toEqual(["USD:5"]);
});

test("a job that has ended sets nothing aside", () => {
  const ended = child(openPurse(budget("USD:10")), "USD:1");
  settle(ended);
  expect(openChildPurse(ended, budget("USD:1"))).toMatchObject({ code: "WRONG_STATE" });
});

test("a child without a budget of its own spends its parent's, and stops with it", () => {
  const parent = openPurse(budget("USD:1", "EUR:1"));
  const sharing = child(parent, "EUR:1");
  expect(charge(sharing, "USD", amount("1"))).toBe(true);
  expect(exhaustedCurrency(sharing)).toBe("USD");
  expect(charge(sharing, "GBP", amount("1"))).toBe(false);
});

test("a budget is spent when nothing is left and no job below has any of it", () => {
  const parent = openPurse(budget("EUR:0", "USD:2"));
  const [first, second] = [child(parent, "USD:1"), child(parent, "USD:1")];
  const third = child(second, "USD:1");
  expect([parent, second, third].map(spentCurrency)).toEqual([undefined, undefined, undefined]);
  charge(first, "USD", amount("1"));
  settle(first);
  settle(second);
  // The third purse gives its rest back to the first one now.
  expect(spentCurrency(parent)).toBeUndefined();
  charge(third, "USD", amount("1"));
  expect([parent, third].map(spentCurrency)).toEqual([undefined, "USD"]);
  settle(third);
  expect(spentCurrency(parent)).toBe("USD");
  // A job that spent more than all that is left is not saved by its child.
  const other = openPurse(budget("USD:2"));
  child(other, "USD:1");
  charge(other, "USD", amount("1.5"));
  expect(spentCurrency(other)).toBe("USD");
});

const CURRENCIES = ["USD", "EUR"] as const;
const aMove = tuple(constantFrom("spend", "delegate", "settle"), nat(50), nat(50), nat(1));

// "Budgets never go up by themselves; the children's reserved sums never exceed the parent's."
test("whatever a family of jobs does, no money appears and none is promised twice", () => {
  const holds = property(array(aMove, { maxLength: 60 }), (moves) => {
    const root = openPurse(budget("USD:100", "EUR:20"));
    const jobs = [root];
    const spent = new Map<string, bigint>();
    for (const [move, who, much, which] of moves) {
      const job = jobs[who % jobs.length] ?? root;
      const currency = CURRENCIES[which] ?? "USD";
      const before = total(jobs);
      const wanted = amount(String(much / 4));
      if (move === "spend" && charge(job, currency, wanted)) {
        spent.set(currency, (spent.get(currency) ?? 0n) + wanted);
      } else if (move === "delegate") {
        const opened = openChildPurse(job, new Map([[currency, wanted]]));
        if (opened.ok) jobs.push(opened.purse);
        expect(total(jobs)).toEqual(before);
      } else if (move === "settle") {
        settle(job);
        expect(total(jobs)).toEqual(before);
      }
      for (const each of CURRENCIES) {
        const granted = root.granted.get(each) ?? 0n;
        expect((total(jobs).get(each) ?? 0n) + (spent.get(each) ?? 0n)).toBe(granted);
      }
      for (const parent of jobs) checkReserved(parent, jobs);
    }
    for (const job of jobs) settle(job);
    for (const lent of root.lent?.values() ?? []) expect(lent).toBe(0n);
  });
  assert(holds, { numRuns: 300 });
});

/** The sum of all purses. */
function total(jobs: readonly Purse[]): ReadonlyMap<string, bigint> {
  const sums = new Map<string, bigint>();
  for (const job of jobs) {
    for (const [currency, held] of job.remaining) {
      sums.set(currency, (sums.get(currency) ?? 0n) + held);
    }
  }
  return sums;
}

function checkReserved(parent: Purse, jobs: readonly Purse[]): void {
  for (const [currency, granted] of parent.granted) {
    const children = jobs.filter((job) => job.parent === parent && !job.isSettled);
    const reserved = children.reduce((sum, job) => sum + (job.granted.get(currency) ?? 0n), 0n);
    expect(reserved <= granted).toBe(true);
  }
}
