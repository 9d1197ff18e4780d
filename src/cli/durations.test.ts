import { expect, test } from "vitest";
import { parseDuration } from "./durations.ts";

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
  expect(() => parseDuration(text)).toThrow("not a duration");
});
