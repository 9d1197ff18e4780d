import { existsSync } from "node:fs";
import { expect, test } from "vitest";
import { rowsOf, titlesOf } from "./conformance.ts";
import { ROOT, textOf } from "./tidy/source.ts";

const NOT_YET = "Not there yet";

test.each([
  ["docs/arcp-conformance.md", 100],
  ["docs/acp.md", 50],
])("every row of %s names tests, and each of them exists", (page, least) => {
  const rows = rowsOf(textOf(page), NOT_YET);
  const titles = new Map<string, ReadonlySet<string>>();
  const problems = rows.flatMap(({ line, claim, tests }) => {
    if (tests.length === 0) return [`line ${line} names no test: ${claim}`];
    return tests.flatMap(({ path, title }) => {
      if (!existsSync(ROOT + path)) return [`line ${line}: there is no ${path}`];
      const known = titles.get(path) ?? titlesOf(path, textOf(path));
      titles.set(path, known);
      return known.has(title) ? [] : [`line ${line}: ${path} has no test ${title}`];
    });
  });
  expect(problems).toEqual([]);
  expect(rows.length).toBeGreaterThan(least);
});

const PAGE = `# Page
| What | Shown by |
| --- | --- |
| one | [x](../src/x.test.ts) \`"a \\| b"\` |
| two | nobody |

## Not there yet
| What | Why |
| --- | --- |
| three | no time |
`;

test("the rows of a page are read with the tests they name, but not what is owned up to", () => {
  expect(rowsOf(PAGE, NOT_YET)).toEqual([
    { line: 4, claim: "one", tests: [{ path: "src/x.test.ts", title: '"a | b"' }] },
    { line: 5, claim: "two", tests: [] },
  ]);
});

test("titles are found in whatever way a test is written, and in no comment", () => {
  const source = `
    // test("not this")
    describe("nor this", () => { test('"quoted"', () => {}); });
    test.each([["nor that"]])("each %s", () => {});
    test.skipIf(true).for([1])("for %s", { timeout: 1 }, () => expect("not that"));
  `;
  expect([...titlesOf("x.test.ts", source)]).toEqual(['"quoted"', "each %s", "for %s"]);
});
