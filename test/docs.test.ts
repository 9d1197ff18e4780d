import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { blocksOf, cut, shellBlock } from "./docs.ts";

const README = `# Title
<!-- run: first -->
\`\`\`sh
npm start
\`\`\`
<!-- from: examples/x.ts#use -->

\`\`\`ts
use();
\`\`\`
\`\`\`
just a drawing
\`\`\`
\`\`\`ts
unmarked();
\`\`\`
`;

test("the runnable blocks of a document are found with their marks and lines", () => {
  expect(blocksOf(README).map(({ line, mark }) => [line, mark?.kind, mark?.value])).toEqual([
    [3, "run", "first"],
    [8, "from", "examples/x.ts#use"],
    [14, undefined, undefined],
  ]);
});

test("a test gets the shell commands of a document by their id", () => {
  expect(shellBlock("first", [README])).toBe("npm start\n");
  expect(() => shellBlock("second", [README])).toThrow("marked run: second");
});

test("a region is cut without its indent, and a missing one is not taken for empty", () => {
  const source = "a();\n  // #region use\n  if (b) {\n    c();\n  }\n  // #endregion\n";
  expect(cut(source, "use")).toBe("if (b) {\n  c();\n}\n");
  expect(cut(source, "other")).toBeUndefined();
});

test("every path that ARCHITECTURE.md names in full is there", () => {
  const root = new URL("../", import.meta.url);
  const text = readFileSync(new URL("ARCHITECTURE.md", root), "utf8");
  const named = text.matchAll(/`((?:src|test|scripts|bench|docs|assets|examples)\/[\w./-]+)`/g);
  const paths = Array.from(named, ([, path = ""]) => path);
  // Words in capitals stand for any name.
  const gone = paths
    .filter((path) => !/[A-Z]{3}/.test(path))
    .filter((path) => !existsSync(fileURLToPath(new URL(path, root))));
  expect(paths.length).toBeGreaterThan(50);
  expect(gone).toEqual([]);
});
