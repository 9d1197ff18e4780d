import { existsSync, readFileSync, statSync } from "node:fs";
import { dirname } from "node:path";
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

test("every file that the documents on the code name is there", () => {
  for (const document of ["ARCHITECTURE.md", "docs/decisions.md"]) {
    const text = readFileSync(new URL(document, ROOT), "utf8");
    const { names, gone } = namedFiles(text);
    expect(names.length).toBeGreaterThan(document === "ARCHITECTURE.md" ? 200 : 5);
    expect({ document, gone }).toEqual({ document, gone: [] });
  }
});

test("a file that is not there is found, by its path or by its bare name", () => {
  const { gone } = namedFiles(
    "`src/core/leases.ts`, `tasks.ts`, `no.ts`; `src/none.ts`, `NOUN.ts`",
  );
  expect(gone).toEqual(["no.ts", "src/none.ts"]);
});

const ROOT = new URL("../", import.meta.url);

/**
 * Paths are written from the root, from src, or without a folder after one that has it. Words in
 * capitals stand for any name.
 */
function namedFiles(text: string): { readonly names: string[]; readonly gone: string[] } {
  const spelled =
    /`((?:[\w.-]+\/)*[\w.-]+\.(?:ts|mjs|md|json|txt)|(?:src|test|docs|assets)\/[\w./-]+)`/g;
  const names = Array.from(text.matchAll(spelled), ([, name = ""]) => name);
  let folder = "";
  const gone = names.filter((name) => {
    const stem = name.endsWith(".md") ? name : name.replace(/[^/]*[A-Z]{3}.*/, "");
    if (stem === "") return false;
    const path = [stem, `src/${stem}`, `${folder}/${stem}`].find((each) =>
      existsSync(new URL(each, ROOT)),
    );
    if (path === undefined) return true;
    const isFolder = statSync(new URL(path, ROOT)).isDirectory();
    folder = isFolder ? path : dirname(path);
    return false;
  });
  return { names, gone };
}
