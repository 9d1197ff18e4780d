/**
 * The process behind a status file: is it there, and is it the one that wrote the file? Its number
 * and its start prove that; that its number is taken does in between, perhaps by a dead one that
 * nobody buried, or by another.
 */
import {
  findProcess,
  hasProcess,
  runningPids,
  startedAtMs,
  type ProcessProof,
} from "../../machine/processes.ts";
import type { Status } from "./format.ts";
import { readMeta } from "./meta.ts";

export interface Processes {
  /**
   * Says of any number whether a process has it now: wrong perhaps about one that is dead, never
   * about one that lives. To be asked for once for very many.
   */
  census(): (pid: number) => boolean;
  find(pid: number): ProcessProof | undefined;
  /** When it began, by the clock on the wall, where the system tells. */
  readonly startedAtMs: (process: ProcessProof) => number | undefined;
}

/** Of this machine. */
export const processes: Processes = {
  find: findProcess,
  startedAtMs,
  census() {
    if (process.platform !== "linux") return hasProcess;
    const pids = runningPids();
    return (pid) => pids.has(pid);
  },
};

/**
 * The processes of one moment, for many files at once: a process is only looked at where its number
 * is taken, and once.
 */
export function processesNow(of: Processes = processes): Pick<Processes, "find" | "startedAtMs"> {
  const found = new Map<number, ProcessProof | undefined>();
  let isTaken: ((pid: number) => boolean) | undefined;
  return {
    startedAtMs: of.startedAtMs,
    find(pid) {
      isTaken ??= of.census();
      if (!isTaken(pid)) return undefined;
      if (!found.has(pid)) found.set(pid, of.find(pid));
      return found.get(pid);
    },
  };
}

/** The process that our own emitters name as the one they speak for. */
export function writerIn(status: Status): ProcessProof | undefined {
  const { process: writer } = readMeta(status);
  return writer?.pid === status.runtime.pid ? writer : undefined;
}
