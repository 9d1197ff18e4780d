/**
 * docs/arcp-conformance.md says which test shows what. A page like that is worth as much as the
 * check that keeps it true: every row names its tests, and every one of them exists, by its title.
 *
 *   | Requirement | [resume](../src/wires/arcp/resume.test.ts) `"the title"` |
 */
import { parseSync } from "rolldown/utils";

export interface Row {
  readonly line: number;
  readonly claim: string;
  readonly tests: readonly { readonly path: string; readonly title: string }[];
}

/** From a link to a test file to the title behind it, in back quotes; a bar in it is escaped. */
const NAMED = /\[[^\]]+\]\(\.\.\/([^)\s]+\.test\.ts)\) `([^`]+)`/g;

/** The rows of all tables, without their heads; those below a heading `skipped` are left out. */
export function rowsOf(markdown: string, skipped: string): readonly Row[] {
  const rows: Row[] = [];
  let isSkipped = false;
  let isInTable = false;
  for (const [index, text] of markdown.split("\n").entries()) {
    if (text.startsWith("#")) isSkipped = text.endsWith(skipped);
    const isRow = text.startsWith("|");
    const isBody = isRow && isInTable && !/^\|[\s|:-]+$/.test(text);
    isInTable = isRow;
    if (!isBody || isSkipped) continue;
    const tests = [...text.matchAll(NAMED)].map(([, path = "", title = ""]) => {
      return { path, title: title.replaceAll("\\|", "|") };
    });
    const claim = text.split(/(?<!\\)\|/)[1]?.trim() ?? "";
    rows.push({ line: index + 1, claim, tests });
  }
  return rows;
}

type Node = Readonly<Record<string, unknown>>;

/** The titles of the tests of a file, as they are written there. */
export function titlesOf(path: string, text: string): ReadonlySet<string> {
  const titles = new Set<string>();
  visit(parseSync(path, text).program, (node) => {
    if (node["type"] !== "CallExpression" || rootOf(node["callee"]) !== "test") return;
    const [first] = node["arguments"] as readonly Node[];
    if (first?.["type"] === "Literal" && typeof first["value"] === "string") {
      titles.add(first["value"]);
    }
  });
  return titles;
}

/** `test` of `test("…")`, `test.each([…])("…")` and `test.skipIf(x).for([…])("…")`. */
function rootOf(callee: unknown): unknown {
  let node = callee as Node | undefined;
  while (node && node["type"] !== "Identifier") {
    node = (node["object"] ?? node["callee"]) as Node | undefined;
  }
  return node?.["name"];
}

function visit(value: unknown, see: (node: Node) => void): void {
  if (typeof value !== "object" || value === null) return;
  if ("type" in value) see(value);
  for (const each of Object.values(value)) visit(each, see);
}
