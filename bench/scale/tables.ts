/** The curve as tables for docs/performance.md. */
import { shown } from "../measure.ts";
import { table, writeSection } from "../shared/page.ts";
import { exponentOf } from "./curve.ts";
import type { Measure, Measured } from "./measuring.ts";

export function writeScale(all: readonly Measured[]): void {
  const sizes = all.map(({ size }) => size.toLocaleString("en"));
  const names = all.at(-1)?.measures.map(({ name }) => name) ?? [];
  const row = (name: string, of: (measured: Measured) => number) => [
    name,
    ...all.map((measured) => shown(of(measured))),
  ];
  writeSection("curve", [
    table(
      ["", ...sizes],
      [
        row("ready, ms", ({ readyMs }) => readyMs),
        row("memory, MiB", ({ rssMib }) => rssMib),
        row("loop delay, p99.9, ms", ({ loopDelayMs }) => loopDelayMs),
        row("longest wait at rest, ms", ({ restMs }) => restMs),
      ],
    ),
    "What the thread that decides spends on one call, in milliseconds of processor time (medians):",
    table(
      ["asked for", ...sizes, "growth"],
      names.map((name) => costRow(name, all)),
    ),
    "How long another caller waits meanwhile, in milliseconds (p99.9):",
    table(
      ["while others ask for", ...sizes],
      names.map((name) => [`\`${name}\``, ...valuesOf(name, all, "waitMs").map(shown)]),
    ),
  ]);
}

/** Growth: the exponent, 0 for a cost that does not grow, 1 for one that grows as the size does. */
function costRow(name: string, all: readonly Measured[]): readonly string[] {
  const values = valuesOf(name, all, "cpuMs");
  const points = values.map((value, i) => ({ size: all[i]?.size ?? NaN, value }));
  return [`\`${name}\``, ...values.map(shown), exponentOf(points).toFixed(2)];
}

function valuesOf(
  name: string,
  all: readonly Measured[],
  of: keyof Measure & ("cpuMs" | "waitMs"),
) {
  return all.map(({ measures }) => measures.find((each) => each.name === name)?.[of] ?? NaN);
}
