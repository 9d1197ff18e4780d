/**
 * The process behind a status file: is it there, and is it the one that wrote the file? Its number
 * and its start prove that; a cheap signal does in between, which a dead one that nobody buried, or
 * another with its number, answers as well.
 */
import { findProcess, startedAtMs, type ProcessProof } from "../../machine/processes.ts";
import type { Status } from "./format.ts";
import { recordOf } from "./report.ts";

export interface Found extends ProcessProof {
  /** Where the system tells. */
  readonly startedAtMs: number | undefined;
}

export interface Processes {
  /** May be wrong about one that is dead, and never about one that lives. */
  mayBeThere(pid: number): boolean;
  find(pid: number): Found | undefined;
}

/** Of this machine. */
export const processes: Processes = {
  find(pid) {
    const found = findProcess(pid);
    return found && { ...found, startedAtMs: startedAtMs(found) };
  },
  mayBeThere(pid) {
    try {
      return process.kill(pid, 0);
    } catch (error) {
      // Somebody else's: there, but not ours to signal.
      return (error as NodeJS.ErrnoException).code === "EPERM";
    }
  },
};

/** What our own emitters say of the process that they speak for. */
export function writerIn({ runtime, x_meta }: Status): ProcessProof | undefined {
  const { pid, start } = recordOf(recordOf(x_meta?.["rollcall"])["process"]);
  if (typeof start !== "string" || typeof pid !== "number" || pid !== runtime.pid) return undefined;
  return { pid, start };
}
