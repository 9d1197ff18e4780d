import { expect, test } from "vitest";
import type { Measure } from "./measures.ts";
import { compare, missed, tableOf } from "./table.ts";

const jobs = { name: "jobs", unit: "/s", better: "higher", isYardstick: false } as const;
const p99 = { name: "p99", unit: "ms", better: "lower", isYardstick: false } as const;

function rounds(about: Omit<Measure, "value">, ...values: readonly number[]) {
  return values.map((value) => [{ ...about, value }]);
}

test("the ratio is that of the medians, with the worst and the best round beside it", () => {
  const { rows } = compare(rounds(jobs, 100, 90, 1000), rounds(jobs, 110, 45, 500));
  expect(rows).toMatchObject([
    { before: 100, now: 110, ratio: { value: 1.1, lowest: 0.5, highest: 1.1 } },
  ]);
});

test("where less is better, a ratio above 1 still is good news", () => {
  expect(compare(rounds(p99, 20), rounds(p99, 10)).rows[0]?.ratio?.value).toBe(2);
});

test("there is no ratio of nothing, nor of what is neither better nor worse", () => {
  const { better: _, ...exact } = p99;
  expect(compare(rounds(p99, 0.1), rounds(p99, -0.1)).rows[0]?.ratio).toBeUndefined();
  expect(compare(rounds(exact, 1), rounds(exact, 2)).rows[0]?.ratio).toBeUndefined();
});

test("ours must not be worse than allowed; a yardstick may be anything", () => {
  const bare = { ...jobs, name: "bare node", isYardstick: true };
  const misses = (about: Omit<Measure, "value">) =>
    missed(compare(rounds(about, 100), rounds(about, 94)), 0.95).length;
  expect([misses(jobs), misses(bare)]).toEqual([1, 0]);
  expect(missed(compare(rounds(jobs, 100), rounds(jobs, 95)), 0.95)).toEqual([]);
});

test("the table has every measure, and says what only one side has", () => {
  const before = [
    [
      { ...jobs, value: 4000 },
      { ...p99, value: 3 },
      { ...jobs, name: "gone", value: 1 },
    ],
  ];
  const now = [
    [
      { ...jobs, value: 3000 },
      { ...p99, value: 2 },
      { ...jobs, name: "new", value: 1 },
    ],
  ];
  const lines = [
    "measure    before       now  ratio   by round",
    "jobs     4,000 /s  3,000 /s   0.75  0.75–0.75  MISS",
    "p99          3 ms      2 ms   1.50  1.50–1.50  ok",
    "only before:",
    "  gone",
    "only now:",
    "  new",
  ];
  expect(tableOf(compare(before, now), 0.95).split("\n")).toEqual(lines);
});
