import { existsSync } from "node:fs";
import { expect, test } from "vitest";
import { rowsOf, titlesOf } from "./conformance.ts";
import { ROOT, textOf } from "./tidy/source.ts";

test("every row of the page on ACP names tests, and each of them exists", () => {
  const rows = rowsOf(textOf("docs/acp.md"), "Not there yet");
  const problems = rows.flatMap(({ line, claim, tests }) => {
    if (tests.length === 0) return [`line ${line} names no test: ${claim}`];
    return tests.flatMap(({ path, title }) => {
      if (!existsSync(ROOT + path)) return [`line ${line}: there is no ${path}`];
      const isThere = titlesOf(path, textOf(path)).has(title);
      return isThere ? [] : [`line ${line}: ${path} has no test ${title}`];
    });
  });
  expect(problems).toEqual([]);
  expect(rows.length).toBeGreaterThan(50);
});
