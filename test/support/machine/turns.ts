/**
 * How long the turns of this thread's loop are, in processor time, so that a machine with other
 * things to do changes nothing. Collections of garbage are taken out: they are not ours to cut.
 */
import { readFileSync } from "node:fs";
import { PerformanceObserver } from "node:perf_hooks";

interface Turn {
  readonly fromMs: number;
  readonly toMs: number;
  readonly cpuMs: number;
}

interface Pause {
  readonly startTime: number;
  readonly duration: number;
}

/** The longest turn while `act` runs, in milliseconds; where nobody tells, by the clock. */
export async function longestTurnMs(act: () => Promise<unknown>): Promise<number> {
  const turns: Turn[] = [];
  const pauses: Pause[] = [];
  const observer = new PerformanceObserver((list) => pauses.push(...list.getEntries()));
  observer.observe({ entryTypes: ["gc"] });
  let isOver = false;
  let [fromMs, cpuMs] = [performance.now(), spentMs()];
  const note = () => {
    const [toMs, spent] = [performance.now(), spentMs()];
    turns.push({ fromMs, toMs, cpuMs: spent - cpuMs });
    [fromMs, cpuMs] = [performance.now(), spentMs()];
    if (!isOver) setImmediate(note);
  };
  setImmediate(note);
  await act();
  isOver = true;
  // Two more turns, in which the observer hears of the last collection.
  for (let i = 0; i < 2; i += 1) await new Promise((resolve) => setImmediate(resolve));
  observer.disconnect();
  return Math.max(...turns.map((turn) => turn.cpuMs - pausedMs(turn, pauses)));
}

/** Never written to. */
const NOTHING = new Int32Array(new SharedArrayBuffer(4));

/**
 * Processor time of this thread. The kernel brings it up to date when the thread gives its
 * processor away, else only every few milliseconds: so it does that first.
 */
export function spentMs(): number {
  // tidy-allow sleep: for a microsecond, to have the time told
  Atomics.wait(NOTHING, 0, 0, 0.001);
  try {
    const [ns = ""] = readFileSync("/proc/thread-self/schedstat", "utf8").split(" ");
    return Number(ns) / 1e6;
  } catch {
    return performance.now();
  }
}

function pausedMs({ fromMs, toMs }: Turn, pauses: readonly Pause[]): number {
  const within = pauses.filter(({ startTime }) => startTime >= fromMs && startTime < toMs);
  return within.reduce((sum, { duration }) => sum + duration, 0);
}
