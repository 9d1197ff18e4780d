import { expect, test } from "vitest";
import { ago, inTime, isDuration, parseDuration } from "./time.ts";

const SECOND = 1000;
const HOUR = 3600 * SECOND;

test.each([
  [0, "now"],
  [999, "now"],
  [-5_000, "now"],
  [3 * SECOND, "3 s ago"],
  [59_999, "59 s ago"],
  [60 * SECOND, "1 min ago"],
  [HOUR - 1, "59 min ago"],
  [HOUR, "1 h ago"],
  [47.9 * HOUR, "47 h ago"],
  [48 * HOUR, "2 d ago"],
])("%d ms after is %s", (durationMs, words) => {
  expect(ago(1_000_000, 1_000_000 + durationMs)).toBe(words);
});

test("what is to come is told as well, until it is due", () => {
  expect(inTime(12_000, 0)).toBe("in 12 s");
  expect(inTime(500, 0)).toBe("now");
  expect(inTime(0, 9_000)).toBe("now");
});

test.each([
  ["30", 30_000],
  ["30s", 30_000],
  ["1.5m", 90_000],
  ["2h", 7_200_000],
  ["250ms", 250],
  ["1d", 86_400_000],
])("%s is %d ms", (text, durationMs) => {
  expect(parseDuration(text)).toBe(durationMs);
});

test.each(["", "soon", "-1s", "1 s", "1e3", "5min", "s"])("%j is no duration", (text) => {
  expect(isDuration(text)).toBe(false);
});
