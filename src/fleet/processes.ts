/**
 * Whether a process is there, and still the same one. A number alone proves nothing: the system
 * gives it to another when it is free. A number and the time at which it began do.
 */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";

export interface Processes {
  /** Costs next to nothing: to be asked often. */
  isThere(pid: number): boolean;
  /** When it began; undefined when it is gone or the system does not tell. */
  startedAtMs(pid: number): number | undefined;
}

/** Of this machine. */
export const processes: Processes = {
  isThere(pid) {
    try {
      process.kill(pid, 0);
      return true;
    } catch (error) {
      // Somebody else's: there, but not ours to signal.
      return (error as NodeJS.ErrnoException).code === "EPERM";
    }
  },
  startedAtMs: process.platform === "linux" ? fromProc : fromPs,
};

/** Times of processes are counted in these, whatever the machine. */
const TICKS_PER_SECOND = 100;
/** The place of the start time behind the name, which may itself hold spaces and brackets. */
const START_FIELD = 19;

let bootedAtMs: number | undefined;

function fromProc(pid: number): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    bootedAtMs ??= 1000 * Number(/^btime (\d+)$/m.exec(readFileSync("/proc/stat", "latin1"))?.[1]);
    const startedAtMs = bootedAtMs + (Number(fields[START_FIELD]) / TICKS_PER_SECOND) * 1000;
    return Number.isFinite(startedAtMs) ? Math.floor(startedAtMs) : undefined;
  } catch {
    return undefined;
  }
}

function fromPs(pid: number): number | undefined {
  const { stdout, status } = spawnSync("ps", ["-o", "lstart=", "-p", String(pid)], {
    encoding: "utf8",
    env: { ...process.env, LC_ALL: "C" },
  });
  const startedAtMs = status === 0 ? Date.parse(stdout.trim()) : NaN;
  return Number.isNaN(startedAtMs) ? undefined : startedAtMs;
}
