/** The measures that a bench printed, as `report` of bench/measure.ts prints them. */

export interface Measure {
  /** With the names of those it belongs to, as "jobs, durable: bare ws: against it". */
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  /** Which of two values is the better one; absent where neither is. */
  readonly better?: "higher" | "lower";
  /** Of a peer or of nothing at all, to compare ours with: no promise of ours. */
  readonly isYardstick: boolean;
}

/** After the verdict: what it is, how much, and in which unit. */
const LINE = /^(?:ok {2}|MISS| {4}) (.{62,}) +([-\d.,e]+)(?: (\D+))?$/;
const BEFORE_GOAL = / {3}(?=at |exactly |$)/;
const YARDSTICK = /^(?:p99 of )?(?:the )?(?:slower )?(?:bare|cat|etcd|redis|grpc-js|peer)\b/;
const RATIOS = ["×", "times"];
const COSTS = ["s", "ms", "µs", "bytes", "KB", "KiB", "MiB", "% of a core"];

/** Whether the bench came to its end. */
export function isWhole(printed: string): boolean {
  return /^(?:all targets met|\d+ targets missed)$/m.test(printed);
}

/** Throws when the bench did not come to its end. */
export function readMeasures(printed: string): readonly Measure[] {
  if (!isWhole(printed)) {
    throw new Error(`the bench did not come to its end:\n${printed}`);
  }
  const above: string[] = [];
  return printed.split("\n").flatMap((line) => {
    const [about = "", goal = ""] = line.split(BEFORE_GOAL);
    const [, label = "", value = "", unit = ""] = LINE.exec(about) ?? [];
    if (label === "") return [];
    const own = label.trim();
    const depth = (label.length - label.trimStart().length) / 2;
    above.splice(depth, Infinity, own);
    const better = betterOf(unit, goal);
    return {
      name: above.join(": "),
      value: Number(value.replaceAll(",", "")),
      unit,
      ...(better && { better }),
      isYardstick: YARDSTICK.test(own) && !RATIOS.includes(unit),
    };
  });
}

/** What was promised says it, else the unit. */
function betterOf(unit: string, goal: string): Measure["better"] {
  if (goal.startsWith("at least")) return "higher";
  if (goal.startsWith("at most")) return "lower";
  if (goal === "" && unit.endsWith("/s")) return "higher";
  return goal === "" && COSTS.includes(unit) ? "lower" : undefined;
}
