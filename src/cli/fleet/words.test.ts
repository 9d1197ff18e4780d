import { expect, test } from "vitest";
import { listFlags } from "../flags.ts";
import { isPlainCall, plainFlags } from "./words.ts";

test("only switches that stand once are plain", () => {
  expect(isPlainCall([])).toBe(true);
  expect(isPlainCall(["--all", "--needs-me", "--oneline", "--json"])).toBe(true);
  for (const words of [["--all", "--all"], ["--watch"], ["--all=true"], ["--", "--all"], ["x"]]) {
    expect(isPlainCall(words)).toBe(false);
  }
});

test("without a word it is as many rows as the parser says", () => {
  expect(plainFlags([])).toEqual({ limit: Number(listFlags.limit.default) });
  expect(plainFlags(["--json", "--needs-me"])).toMatchObject({ json: true, needsMe: true });
});
