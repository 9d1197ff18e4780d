/** What the documents promise is true: code blocks are run, dependencies have their reason. */
import { existsSync } from "node:fs";
import { type Block, blocksOf, cut } from "../docs.ts";
import { ROOT, type Source, textOf } from "./source.ts";

export function isDocument(path: string): boolean {
  return path.endsWith(".md") && path !== "CHANGELOG.md";
}

export function unprovenBlocks(path: string, sources: readonly Source[]): readonly string[] {
  return blocksOf(textOf(path)).flatMap((block) => {
    const problem = problemOf(block, sources);
    return problem === undefined ? [] : [`${path}:${block.line} ${problem}`];
  });
}

function problemOf({ mark, body }: Block, sources: readonly Source[]): string | undefined {
  switch (mark?.kind) {
    case "from": {
      const [file = "", region] = mark.value.split("#");
      if (!existsSync(ROOT + file)) return `is cut from ${file}, which does not exist`;
      const original = cut(textOf(file), region);
      if (original === undefined) return `is cut from ${file}, which has no region ${region}`;
      return original === body
        ? undefined
        : `differs from ${mark.value}; it should be:\n${original}`;
    }
    case "run": {
      const call = `shellBlock("${mark.value}"`;
      const isRun = sources.some(
        ({ isTest, code }) => isTest && code.some((line) => line.includes(call)),
      );
      return isRun ? undefined : `no test runs it: none calls ${call})`;
    }
    case "shown":
      return undefined;
    default:
      return "needs a comment before it that says from, run or shown: see test/docs.ts";
  }
}

/** Runtime dependencies without their row `| \`name\` | reason |` in ARCHITECTURE.md. */
export function unexplainedDependencies(): readonly string[] {
  const manifest = JSON.parse(textOf("package.json")) as Record<string, object | undefined>;
  const names = [manifest["dependencies"], manifest["optionalDependencies"]].flatMap((each) =>
    Object.keys(each ?? {}),
  );
  const rows = textOf("ARCHITECTURE.md")
    .split("\n")
    .filter((line) => line.startsWith("|"));
  return names.filter((name) => !rows.some((row) => row.includes(`\`${name}\``)));
}
