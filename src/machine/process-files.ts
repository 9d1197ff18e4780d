/**
 * Processes that are looked at every second. The file in which Linux tells of a process is kept
 * open: to ask again is one call then, where opening it anew takes four. It stays the file of that
 * very process, and fails when that is over, whoever has its number by then.
 */
import { closeSync, openSync, readSync } from "node:fs";
import { MAX_PROCESS_FILES } from "./limits.ts";
import { findProcess, isDead, readStat, type ProcessProof } from "./processes.ts";

interface OpenProcess {
  readonly file: number;
  readonly process: ProcessProof;
}

/** Shared by all reads: nothing waits in between. */
const line = Buffer.allocUnsafe(512);

export class ProcessFiles implements Disposable {
  readonly #open = new Map<number, OpenProcess>();

  /** The process that has this number now. */
  find(pid: number): ProcessProof | undefined {
    const known = this.#open.get(pid);
    if (known && isAlive(known.file)) return known.process;
    if (known) this.#close(pid, known);
    const isRoom = process.platform === "linux" && this.#open.size < MAX_PROCESS_FILES;
    return isRoom ? this.#keep(pid) : findProcess(pid);
  }

  /** Closes the files of all processes but these. */
  keepOnly(pids: ReadonlySet<number>): void {
    for (const [pid, known] of this.#open) if (!pids.has(pid)) this.#close(pid, known);
  }

  /** Idempotent. */
  [Symbol.dispose](): void {
    this.keepOnly(new Set());
  }

  #keep(pid: number): ProcessProof | undefined {
    const file = openIfThere(`/proc/${pid}/stat`);
    if (file === undefined) return undefined;
    const found = readStat(pid, textIn(file));
    if (found) this.#open.set(pid, { file, process: found });
    else closeSync(file);
    return found;
  }

  #close(pid: number, { file }: OpenProcess): void {
    this.#open.delete(pid);
    closeSync(file);
  }
}

function openIfThere(path: string): number | undefined {
  try {
    return openSync(path, "r");
  } catch {
    return undefined;
  }
}

function textIn(file: number): string {
  return line.toString("latin1", 0, lengthIn(file));
}

/** "1234 (name) S …": nothing behind the name has a bracket. */
function isAlive(file: number): boolean {
  const length = lengthIn(file);
  const state = line.lastIndexOf(")", length - 1) + 2;
  return length > 0 && !isDead(String.fromCharCode(line[state] ?? 0));
}

/** How much of the shared buffer it fills: nothing where the process is over. */
function lengthIn(file: number): number {
  try {
    return readSync(file, line, 0, line.length, 0);
  } catch {
    return 0;
  }
}
