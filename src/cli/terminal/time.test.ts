import { expect, test } from "vitest";
import { ago, inTime } from "./time.ts";
import { HOUR, SECOND } from "../../core/units.ts";

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
  const dayMs = 86_400_000;
  expect(inTime(30 * dayMs - 3_000, 0)).toBe("in 30 d");
});
