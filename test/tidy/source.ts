/** The files of the repository as the house rules see them. */
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parseSync } from "rolldown/utils";

export const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/** Every file that is, or would be, committed: its path from the root, with forward slashes. */
export function repositoryFiles(): readonly string[] {
  const listed = execFileSync("git", ["ls-files", "-co", "--exclude-standard", "-z"], {
    cwd: ROOT,
    encoding: "utf8",
  });
  return [...new Set(listed.split("\0"))].filter((path) => path && existsSync(ROOT + path));
}

export function textOf(path: string): string {
  return readFileSync(ROOT + path, "utf8");
}

export interface Source {
  readonly path: string;
  readonly isTest: boolean;
  readonly isGenerated: boolean;
  readonly lines: readonly string[];
  /** The lines with comments blanked out. */
  readonly code: readonly string[];
  /** What it imports or re-exports, as written. */
  readonly imports: readonly string[];
  /** Whether a doc comment comes before anything else. */
  readonly hasOpening: boolean;
}

export function isSource(path: string): boolean {
  return /\.(ts|tsx|mjs)$/.test(path);
}

export function readSource(path: string): Source {
  const text = textOf(path);
  const { comments, module } = parseSync(path, text);
  const first = comments[0];
  const beforeFirst = text.slice(0, first?.start).replace(/^#!.*/, "");
  const requests = [
    ...module.staticImports.map((each) => each.moduleRequest),
    ...module.staticExports.flatMap(({ entries }) => entries.map((each) => each.moduleRequest)),
    ...module.dynamicImports.map((each) => each.moduleRequest),
  ];
  let code = text;
  for (const { start, end } of comments) {
    const blank = text.slice(start, end).replace(/[^\n]/g, " ");
    code = code.slice(0, start) + blank + code.slice(end);
  }
  return {
    path,
    isTest: path.startsWith("test/") || path.endsWith(".test.ts"),
    isGenerated: path.includes("/gen/"),
    lines: text.split("\n"),
    code: code.split("\n"),
    imports: requests.flatMap((each) => (each ? [text.slice(each.start + 1, each.end - 1)] : [])),
    hasOpening: first?.type === "Block" && first.value.startsWith("*") && beforeFirst.trim() === "",
  };
}
