/**
 * What it costs to run a program from its start to its end: CPU time, which says something on a
 * busy machine too, and time on the wall. Programs run in turns, each as often as the others. They
 * are called again and again: the first call of each, which finds no compiled code, is not counted.
 */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { median, roundsOf } from "../measure.ts";

export interface StartCost {
  /** NaN where the system does not tell. */
  readonly cpuMs: number;
  readonly wallMs: number;
}

export interface Start {
  readonly args: readonly string[];
  readonly env?: NodeJS.ProcessEnv;
}

export function startCosts(rounds: number, starts: readonly Start[]): readonly StartCost[] {
  // A machine-wide certificate bundle costs Node 20 most of its start; it is not ours to measure.
  const { NODE_EXTRA_CA_CERTS: _, ...usual } = process.env;
  const runs = starts.map(() => ({ cpuMs: 0, wallMs: [] as number[] }));
  for (let round = 0; round <= roundsOf(rounds); round += 1) {
    for (const [i, { args, env }] of starts.entries()) {
      const [run, beforeMs, startMs] = [runs[i], childrenCpuMs(), performance.now()];
      const options = { env: { ...usual, ...env }, stdio: "ignore" } as const;
      const { status } = spawnSync(process.execPath, args, options);
      if (status !== 0) throw new Error(`node ${args.join(" ")} ended with ${status}`);
      if (!run || round === 0) continue;
      run.wallMs.push(performance.now() - startMs);
      run.cpuMs += childrenCpuMs() - beforeMs;
    }
  }
  return runs.map(({ cpuMs, wallMs }) => ({
    cpuMs: cpuMs / wallMs.length,
    wallMs: median(wallMs),
  }));
}

/** Linux counts in ticks of 10 ms: good for the sum of many runs, not for one. */
const TICK_MS = 10;

/** Of all processes that this one started and that ended. */
function childrenCpuMs(): number {
  try {
    const stat = readFileSync("/proc/self/stat", "utf8");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return (Number(fields[13]) + Number(fields[14])) * TICK_MS;
  } catch {
    return NaN;
  }
}
