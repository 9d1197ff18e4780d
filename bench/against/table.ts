/**
 * Before and now, measure by measure. A ratio above 1 is always good news: it is now / before
 * where more is better, and before / now where less is.
 */
import { median, shown } from "../measure.ts";
import type { Measure } from "./measures.ts";

/** The measures of one run of a bench. */
export type Round = readonly Measure[];

export interface Row {
  readonly measure: Measure;
  readonly before: number;
  readonly now: number;
  /** Absent where a ratio says nothing: of what is not above 0, or neither better nor worse. */
  readonly ratio?: Ratio;
}

interface Ratio {
  /** Of the medians. */
  readonly value: number;
  /** Of single rounds: how much chance there is in it. */
  readonly lowest: number;
  readonly highest: number;
}

export interface Comparison {
  readonly rows: readonly Row[];
  /** The names of measures that the other tree does not have. */
  readonly onlyBefore: readonly string[];
  readonly onlyNow: readonly string[];
}

/** Of rounds that ran in turns: the first before with the first now, and so on. */
export function compare(before: readonly Round[], now: readonly Round[]): Comparison {
  const [names, namesBefore] = [namesOf(now), namesOf(before)];
  const rows = (now[0] ?? []).filter(({ name }) => namesBefore.has(name));
  return {
    rows: rows.map((measure) => rowOf(measure, before, now)),
    onlyBefore: [...namesBefore].filter((name) => !names.has(name)),
    onlyNow: [...names].filter((name) => !namesBefore.has(name)),
  };
}

function namesOf([first = []]: readonly Round[]): ReadonlySet<string> {
  return new Set(first.map(({ name }) => name));
}

function rowOf(measure: Measure, before: readonly Round[], now: readonly Round[]): Row {
  const valuesOf = (rounds: readonly Round[]) =>
    rounds.map((round) => round.find(({ name }) => name === measure.name)?.value ?? NaN);
  const [valuesBefore, valuesNow] = [valuesOf(before), valuesOf(now)];
  const medians = { before: median(valuesBefore), now: median(valuesNow) };
  const value = ratioOf(measure, medians.before, medians.now);
  if (value === undefined) return { measure, ...medians };
  const each = valuesNow.flatMap((of, i) => ratioOf(measure, valuesBefore[i] ?? NaN, of) ?? []);
  const ratio = { value, lowest: Math.min(...each), highest: Math.max(...each) };
  return { measure, ...medians, ratio };
}

function ratioOf({ better }: Measure, before: number, now: number): number | undefined {
  if (better === undefined || !(before > 0) || !(now > 0)) return undefined;
  return better === "higher" ? now / before : before / now;
}

/** Those of ours that got worse than allowed. */
export function missed({ rows }: Comparison, atLeast: number): readonly Row[] {
  return rows.filter(
    ({ measure, ratio }) => !measure.isYardstick && ratio !== undefined && ratio.value < atLeast,
  );
}

/** The table as text; with a verdict on each of ours when there is a bound. */
export function tableOf(comparison: Comparison, atLeast = 0): string {
  const bad = new Set(missed(comparison, atLeast));
  const verdictOf = (row: Row) => {
    if (row.measure.isYardstick) return "yardstick";
    if (row.ratio === undefined || atLeast === 0) return "";
    return bad.has(row) ? "MISS" : "ok";
  };
  const cells = comparison.rows.map((row) => [
    row.measure.name,
    amount(row.before, row.measure.unit),
    amount(row.now, row.measure.unit),
    row.ratio?.value.toFixed(2) ?? "",
    row.ratio ? `${row.ratio.lowest.toFixed(2)}–${row.ratio.highest.toFixed(2)}` : "",
    verdictOf(row),
  ]);
  const only = (side: string, names: readonly string[]) =>
    names.length === 0 ? [] : [`only ${side}:`, ...names.map((name) => `  ${name}`)];
  return [
    ...aligned([["measure", "before", "now", "ratio", "by round", ""], ...cells]),
    ...only("before", comparison.onlyBefore),
    ...only("now", comparison.onlyNow),
  ].join("\n");
}

function amount(value: number, unit: string): string {
  return `${shown(value)} ${unit}`.trim();
}

/** The first column and the last to the left, numbers to the right. */
function aligned(rows: readonly (readonly string[])[]): readonly string[] {
  const widths = (rows[0] ?? []).map((_, i) => Math.max(...rows.map((row) => row[i]?.length ?? 0)));
  return rows.map((row) => {
    const cells = row.map((cell, i) => {
      const isText = i === 0 || i === row.length - 1;
      return isText ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0);
    });
    return cells.join("  ").trimEnd();
  });
}
