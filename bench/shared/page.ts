/**
 * What benches write into docs/performance.md with `--write`, each between its own two marks. A
 * bench without marks there writes nothing.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { cpus } from "node:os";

const PAGE = "docs/performance.md";

export function writeSection(name: string, paragraphs: readonly string[]): void {
  const [begin, end] = [`<!-- ${name}: made by the bench -->`, `<!-- end of ${name} -->`];
  const page = readFileSync(PAGE, "utf8");
  const [from, to] = [page.indexOf(begin), page.indexOf(end)];
  if (from === -1 || to === -1) return;
  const machine = `${cpus().length} cores (${cpus()[0]?.model.trim() ?? "unknown"})`;
  const day = new Date().toISOString().slice(0, 10);
  const text = [begin, ...paragraphs, `${day}, ${machine}, Node ${process.version}.`, end];
  writeFileSync(PAGE, page.slice(0, from) + text.join("\n\n") + page.slice(to + end.length));
}

export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  return [line(head), line(head.map(() => "---")), ...rows.map(line)].join("\n");
}
