/**
 * How we measure: these machines are noisy, so a time means nothing by itself. A and B run in turns
 * in one process, at least three times each; what counts is the ratio of the medians, against the
 * target that was promised.
 *
 * `--against COMMIT` compares measures by their names, as two trees print them (bench/against): a
 * measure whose load changes needs another name. Two spaces more say that it belongs to the one
 * above.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { table, writeSection } from "./shared/page.ts";

export interface Result {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  /** What was promised; absent for what is only reported. */
  readonly target?: { readonly atLeast?: number; readonly atMost?: number };
}

/**
 * `--quick`: no peers, half of the rounds, no long waits. `--against` runs benches so, several
 * times each.
 */
export const isQuick = process.argv.includes("--quick");

/** `--only PART`: of a bench with several parts, this one. */
const at = process.argv.indexOf("--only");
const only = at === -1 ? undefined : process.argv[at + 1];

const results: Result[] = [];

export function report(result: Result): void {
  results.push(result);
  console.log(lineOf(result));
}

/** What `readMeasures` reads: of this tree, and of commits that were written before it. */
export function lineOf(result: Result): string {
  const verdict = result.target ? (isMet(result) ? "ok  " : "MISS") : "    ";
  const value = `${shown(result.value)} ${result.unit}`.trim();
  const goal = goalOf(result.target);
  return `${verdict} ${result.name.padEnd(62)} ${value.padStart(16)}   ${goal}`;
}

/** Call at the end: a promise that was not kept fails the run. */
export function conclude(): void {
  if (results.length === 0) throw new Error(`nothing was measured: there is no part ${only}`);
  const missed = results.filter((result) => !isMet(result));
  console.log(missed.length === 0 ? "\nall targets met" : `\n${missed.length} targets missed`);
  if (process.argv.includes("--write")) writeResults();
  process.exitCode = missed.length === 0 ? 0 : 1;
}

/** `--write`: as a table of docs/performance.md, under the name of the bench. */
function writeResults(): void {
  const rows = results.map((result) => {
    const { name, value, unit, target } = result;
    const verdict = target ? (isMet(result) ? "met" : "missed") : "";
    const depth = name.length - name.trimStart().length;
    const shownName = `${"&nbsp;".repeat(depth)}${name.trimStart()}`;
    return [shownName, `${shown(value)} ${unit}`.trim(), goalOf(target), verdict];
  });
  writeSection(basename(process.argv[1] ?? "", ".ts"), [
    table(["", "measured", "target", ""], rows),
  ]);
}

function goalOf({ atLeast, atMost }: NonNullable<Result["target"]> = {}): string {
  if (atLeast !== undefined && atLeast === atMost) return `exactly ${shown(atLeast)}`;
  const bounds = [
    ...(atLeast === undefined ? [] : [`at least ${shown(atLeast)}`]),
    ...(atMost === undefined ? [] : [`at most ${shown(atMost)}`]),
  ];
  return bounds.join(", ");
}

export function isMet({ value, target }: Result): boolean {
  return value >= (target?.atLeast ?? -Infinity) && value <= (target?.atMost ?? Infinity);
}

/** A target that half of what was promised meets. */
export function halfOf({ atLeast, atMost }: NonNullable<Result["target"]> = {}): NonNullable<
  Result["target"]
> {
  return {
    ...(atLeast !== undefined && { atLeast: atLeast / 2 }),
    ...(atMost !== undefined && { atMost: atMost * 2 }),
  };
}

export function shown(value: number): string {
  return value >= 1000
    ? Math.round(value).toLocaleString("en")
    : String(Number(value.toPrecision(4)));
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? NaN;
}

export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? NaN;
}

/** How often something is measured that is measured so often when there is time. */
export function roundsOf(rounds: number): number {
  return isQuick ? Math.ceil(rounds / 2) : rounds;
}

/** Runs the candidates in turns and gives the median rate of each, in things per second. */
export async function inTurns(
  rounds: number,
  ...candidates: readonly (() => Promise<number>)[]
): Promise<number[]> {
  const rates = candidates.map((): number[] => []);
  for (let round = 0; round < roundsOf(rounds); round += 1) {
    for (const [i, candidate] of candidates.entries()) rates[i]?.push(await candidate());
  }
  return rates.map(median);
}

/** Things per second, when `run` does `count` of them. */
export async function rate(count: number, run: () => Promise<void> | void): Promise<number> {
  const startMs = performance.now();
  await run();
  return (count / (performance.now() - startMs)) * 1000;
}

/** A part of a bench, in a folder of its own. */
export async function part(name: string, run: (folder: string) => Promise<void>): Promise<void> {
  if (only === undefined || only === name) await inTemporaryFolder(run);
}

export async function inTemporaryFolder<T>(use: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), "rollcall-bench-"));
  try {
    return await use(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Bytes in use after everything unused was let go; run node with --expose-gc. */
export function memoryBytes(): number {
  globalThis.gc?.();
  const { heapUsed, external, arrayBuffers } = process.memoryUsage();
  return heapUsed + Math.max(external, arrayBuffers);
}

/** How fast something was under load, and how long the slowest hundredth waited. */
export interface Measured {
  readonly perSecond: number;
  readonly p50Ms?: number;
  readonly p99Ms: number;
  /** Of the server, for one call. */
  readonly cpuUs?: number;
}

/** The median of each, all run in turns; a first round warms up. */
export async function measuredInTurns<const Runs extends readonly (() => Promise<Measured>)[]>(
  rounds: number,
  runs: Runs,
): Promise<{ readonly [Index in keyof Runs]: Measured }> {
  const all = runs.map((): Measured[] => []);
  for (let round = 0; round <= roundsOf(rounds); round += 1) {
    for (const [i, run] of runs.entries()) {
      const measured = await run();
      if (round > 0) all[i]?.push(measured);
    }
  }
  const medians = all.map((each) => ({
    perSecond: median(each.map(({ perSecond }) => perSecond)),
    p50Ms: median(each.map(({ p50Ms = NaN }) => p50Ms)),
    p99Ms: median(each.map(({ p99Ms }) => p99Ms)),
    cpuUs: median(each.map(({ cpuUs = NaN }) => cpuUs)),
  }));
  return medians as unknown as { readonly [Index in keyof Runs]: Measured };
}
