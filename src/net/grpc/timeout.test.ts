import { expect, test } from "vitest";
import { formatTimeout, parseTimeout } from "./timeout.ts";

test.each([
  ["1S", 1_000],
  ["250m", 250],
  ["99999999n", 99.999999],
  ["5000u", 5],
  ["2M", 120_000],
  ["1H", 3_600_000],
  ["0m", 0],
])("%s is %d ms", (header, ms) => {
  expect(parseTimeout(header)).toBeCloseTo(ms, 9);
});

test.each(["", "1", "m", "123456789m", "-1S", "1s", "1 S", "1.5S"])("%j is none", (header) => {
  expect(parseTimeout(header)).toBeUndefined();
});

test("what is written is read again, no shorter", () => {
  for (const ms of [0, 0.2, 1, 1_500, 99_999_999, 100_000_001, 1e12]) {
    expect(parseTimeout(formatTimeout(ms))).toBeGreaterThanOrEqual(Math.min(ms, 99_999_999_000));
  }
});
