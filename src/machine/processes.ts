/**
 * Processes of this machine. A number alone proves nothing: the system gives it to somebody else
 * when its process has ended. A number and the moment when that process started do.
 *
 * Linux tells both in /proc, for the price of reading a small file. Elsewhere `ps` is asked.
 */
import { readdirSync, readFileSync } from "node:fs";
import { BootTime } from "./boot-time.ts";

export interface ProcessProof {
  readonly pid: number;
  /** When it started, in the words of this system: only good for being compared. */
  readonly start: string;
}

export interface ProcessFacts extends ProcessProof {
  readonly parent: number;
  /** The name of its program, without the folder; the system may cut it. */
  readonly name: string;
}

/** Nothing when there is no such process, or only its entry until somebody asks how it ended. */
export function findProcess(pid: number): ProcessFacts | undefined {
  if (!Number.isSafeInteger(pid) || pid <= 0) return undefined;
  return process.platform === "linux" ? fromProc(pid) : fromPs(pid);
}

/** Whether this very process still runs. */
export function isRunning({ pid, start }: ProcessProof): boolean {
  return findProcess(pid)?.start === start;
}

/** Whether some process has this number now: cheap everywhere, and less of a proof. */
export function hasProcess(pid: number): boolean {
  // A container whose first process buries nobody is full of dead that a signal would still find.
  if (process.platform === "linux") return fromProc(pid) !== undefined;
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // It is there, and somebody else's.
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

/** Its program and its words; empty where the system does not tell. */
export function commandLineOf(pid: number): string {
  if (process.platform === "linux") return procFile(pid, "cmdline").replaceAll("\0", " ").trim();
  const { spawnSync } = process.getBuiltinModule("node:child_process");
  const options = { encoding: "utf8", timeout: PS_TIMEOUT_MS } as const;
  return spawnSync("ps", ["-o", "command=", "-p", String(pid)], options).stdout.trim();
}

/** The environment that a process was started with. Only Linux tells. */
export function environmentOf(pid: number): Readonly<Record<string, string>> {
  const environment: Record<string, string> = {};
  for (const line of procFile(pid, "environ").split("\0")) {
    const at = line.indexOf("=");
    if (at > 0) environment[line.slice(0, at)] = line.slice(at + 1);
  }
  return environment;
}

/** The processes that it started and that are not over. Only Linux tells. */
export function childrenOf(pid: number): readonly number[] {
  try {
    const text = readFileSync(`/proc/${pid}/task/${pid}/children`, "latin1");
    return text.split(" ").filter(Boolean).map(Number);
  } catch {
    return [];
  }
}

function procFile(pid: number, name: "cmdline" | "environ"): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, "utf8");
  } catch {
    return "";
  }
}

/** All numbers that are taken, also by the dead that nobody buried. Only Linux tells. */
export function runningPids(): ReadonlySet<number> {
  const pids = new Set<number>();
  for (const name of readdirSync("/proc")) if (isNumber(name)) pids.add(Number(name));
  return pids;
}

function isNumber(name: string): boolean {
  const first = name.charCodeAt(0);
  return first >= 0x30 && first <= 0x39;
}

/** When it started by the clock on the wall, within a second or two; not every system tells. */
export function startedAtMs({ start }: ProcessProof): number | undefined {
  const atMs =
    process.platform === "linux" ? boot.atMs() + Number(start) * TICK_MS : Date.parse(start);
  return Number.isFinite(atMs) ? Math.floor(atMs) : undefined;
}

/** Times of processes are counted in hundredths of a second, whatever the machine. */
const TICK_MS = 10;

const boot = new BootTime();

function fromProc(pid: number): ProcessFacts | undefined {
  try {
    return readStat(pid, readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return undefined;
  }
}

/** "1234 (name, may hold blanks and brackets) S 1 …": the start is the 22nd field. */
export function readStat(pid: number, text: string): ProcessFacts | undefined {
  const name = text.slice(text.indexOf("(") + 1, text.lastIndexOf(")"));
  const rest = text.slice(text.lastIndexOf(")") + 2).split(" ", 20);
  const [state = "", parent = ""] = rest;
  const start = rest[19];
  if (start === undefined || isDead(state)) return undefined;
  return { pid, parent: Number(parent), name, start };
}

/** Only its entry is left, until somebody asks how it ended. */
export function isDead(state: string): boolean {
  return /[ZXx]/.test(state);
}

/** "  1 Mon Nov 16 03:51:01 2026 Ss /usr/bin/name": five words say when. */
const PS_LINE =
  /^\s*(?<parent>\d+)\s+(?<start>(?:\S+\s+){4}\S+)\s+(?<state>\S+)\s+(?<path>.+?)\s*$/;

function fromPs(pid: number): ProcessFacts | undefined {
  const { spawnSync } = process.getBuiltinModule("node:child_process");
  const { stdout } = spawnSync("ps", ["-o", "ppid=,lstart=,state=,comm=", "-p", String(pid)], {
    encoding: "utf8",
    env: { ...process.env, LC_ALL: "C" },
    timeout: PS_TIMEOUT_MS,
  });
  return readPs(pid, stdout);
}

/** It answers in a few milliseconds, or the machine has other troubles. */
const PS_TIMEOUT_MS = 2000;

/** The facts in a line of `ps`. */
export function readPs(pid: number, line: string | null): ProcessFacts | undefined {
  const { parent, start = "", state = "", path = "" } = PS_LINE.exec(line ?? "")?.groups ?? {};
  if (parent === undefined || state.startsWith("Z")) return undefined;
  const name = path.slice(path.lastIndexOf("/") + 1);
  return { pid, parent: Number(parent), name, start: start.replaceAll(/\s+/g, " ") };
}
