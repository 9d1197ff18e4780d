/**
 * No code block in the documents that CI does not run. The comment before a block says how:
 *
 *   <!-- from: examples/x.ts#use -->   it is cut from that file, which CI runs; `#use` means the
 *                                      lines between `// #region use` and `// #endregion`
 *   <!-- run: id -->                   a test runs it: it asks for `shellBlock("id", …)`
 *   <!-- shown: why -->                for reading only, and why nobody can run it
 */

const RUNNABLE = /^(?:ts|tsx|js|javascript|typescript|sh|bash|shell|console)$/;

export interface Block {
  readonly line: number;
  readonly language: string;
  readonly body: string;
  readonly mark: { readonly kind: string; readonly value: string } | undefined;
}

/** The code blocks that claim to be runnable. */
export function blocksOf(markdown: string): readonly Block[] {
  const blocks: Block[] = [];
  const fence = /^(?:<!-- (\w+): (.+?) -->\n+)?```(\w+)[^\n]*\n(.*?)^```$/gms;
  for (const {
    0: whole,
    1: kind,
    2: value,
    3: language = "",
    4: body = "",
    index,
  } of markdown.matchAll(fence)) {
    if (!RUNNABLE.test(language)) continue;
    const line = markdown.slice(0, index + whole.indexOf("```")).split("\n").length;
    blocks.push({ line, language, body, mark: kind && value ? { kind, value } : undefined });
  }
  return blocks;
}

/** The lines of a region without their common indent; the whole text when no region is named. */
export function cut(text: string, region: string | undefined): string | undefined {
  if (region === undefined) return text;
  const lines = text.split("\n");
  const start = lines.findIndex((line) => line.trim() === `// #region ${region}`);
  const length = lines.slice(start + 1).findIndex((line) => line.trim() === "// #endregion");
  if (start === -1 || length === -1) return undefined;
  const inside = lines.slice(start + 1, start + 1 + length);
  const indents = inside.filter((line) => line.trim()).map((line) => line.search(/\S/));
  const indent = Math.min(...indents);
  return inside.map((line) => `${line.slice(indent)}\n`).join("");
}

/** The shell commands that a document marks with `run: id`. */
export function shellBlock(id: string, documents: readonly string[]): string {
  const found = documents
    .flatMap(blocksOf)
    .find(({ mark }) => mark?.kind === "run" && mark.value === id);
  if (!found) throw new Error(`no document has a block marked run: ${id}`);
  return found.body;
}
