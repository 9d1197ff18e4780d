import { expect, test } from "vitest";
import { exponentOf } from "./curve.ts";

const at = (cost: (size: number) => number) =>
  exponentOf([1e3, 1e4, 1e5].map((size) => ({ size, value: cost(size) })));

test("a cost that does not grow has the exponent 0, one that grows as the size does has 1", () => {
  expect(at(() => 7)).toBeCloseTo(0);
  expect(at((size) => 3 * size)).toBeCloseTo(1);
  expect(at((size) => Math.sqrt(size))).toBeCloseTo(0.5);
});
