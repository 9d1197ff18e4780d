/** Writes what was measured into docs/performance.md, between its two marks. */
import { readFileSync, writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { shown } from "../measure.ts";
import type { Measured } from "../scale.ts";
import { exponentOf } from "./curve.ts";

const PAGE = "docs/performance.md";
const [BEGIN, END] = ["<!-- scale: made by the bench -->", "<!-- end of scale -->"];

export function writeTables(all: readonly Measured[]): void {
  const page = readFileSync(PAGE, "utf8");
  const [before = "", rest = ""] = page.split(BEGIN);
  const after = rest.slice(rest.indexOf(END));
  writeFileSync(PAGE, `${before}${BEGIN}\n\n${tablesOf(all)}\n\n${after}`);
}

function tablesOf(all: readonly Measured[]): string {
  const sizes = all.map(({ size }) => size.toLocaleString("en"));
  const machine = `${cpus().length} cores (${cpus()[0]?.model.trim() ?? "unknown"})`;
  const names = all.at(-1)?.measures.map(({ name }) => name) ?? [];
  return [
    `Measured on ${machine}, Node ${process.version}: the processor time that the thread which`,
    "decides spends on one call over HTTP, in milliseconds; medians.",
    "",
    table(["", ...sizes], [["memory, MiB", ...all.map(({ rssMib }) => shown(rssMib))]]),
    "",
    table(
      ["asked for", ...sizes, "growth"],
      names.map((name) => rowOf(name, all)),
    ),
  ].join("\n");
}

/** Growth: the exponent, 0 for a cost that does not grow, 1 for one that grows as the size does. */
function rowOf(name: string, all: readonly Measured[]): readonly string[] {
  const found = all.flatMap(({ size, measures }) => {
    const each = measures.find((one) => one.name === name);
    return each ? [{ size, value: each.cpuMs }] : [];
  });
  const times = found.map(({ value }) => shown(value));
  const growth = exponentOf(found).toFixed(2);
  return [`\`${name}\``, ...times, growth];
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  return [line(head), line(head.map(() => "---")), ...rows.map(line)].join("\n");
}
