/**
 * The end of a file that a program only adds to: its last lines, without what was cut off at the
 * front. It is read when it has changed, and where the system tells of changes, so does this.
 */
import * as fs from "node:fs";
import { WITNESS } from "./limits.ts";

export class FileTail<Reading> implements Disposable {
  readonly #read: (lines: readonly string[]) => Reading;
  readonly #noticed: () => void;
  #watcher: fs.FSWatcher | undefined;
  #last: { readonly stats: fs.Stats; readonly reading: Reading } | undefined;

  constructor(read: (lines: readonly string[]) => Reading, noticed: () => void) {
    this.#read = read;
    this.#noticed = noticed;
  }

  /** Whether the file that was read last tells by itself when it changes. */
  get isWatched(): boolean {
    return this.#watcher !== undefined;
  }

  /** Reads the end of the file; undefined where there is no such file. */
  of(path: string | undefined): Reading | undefined {
    const stats = path === undefined ? undefined : statIfThere(path);
    if (path === undefined || !stats) {
      this[Symbol.dispose]();
      return undefined;
    }
    const last = this.#last;
    if (last && isUnchanged(last.stats, stats)) return last.reading;
    if (last?.stats.ino !== stats.ino) this.#watch(path);
    const reading = this.#read(tailOf(path));
    this.#last = { stats, reading };
    return reading;
  }

  #watch(path: string): void {
    this[Symbol.dispose]();
    try {
      this.#watcher = fs.watch(path, this.#noticed).on("error", () => this[Symbol.dispose]());
    } catch {
      // The system watches no more files: looking now and then has to do.
    }
  }

  /** Idempotent. */
  [Symbol.dispose](): void {
    this.#watcher?.close();
    this.#watcher = undefined;
    this.#last = undefined;
  }
}

function isUnchanged(a: fs.Stats, b: fs.Stats): boolean {
  return a.ino === b.ino && a.size === b.size && a.mtimeMs === b.mtimeMs;
}

function statIfThere(path: string): fs.Stats | undefined {
  try {
    return fs.statSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

/** The last lines of a file; none where there is no such file. */
export function tailOf(path: string): readonly string[] {
  let descriptor: number;
  try {
    descriptor = fs.openSync(path, "r");
  } catch {
    return [];
  }
  try {
    const { size } = fs.fstatSync(descriptor);
    const start = Math.max(0, size - WITNESS.tailBytes);
    const bytes = Buffer.alloc(size - start);
    const count = fs.readSync(descriptor, bytes, 0, bytes.length, start);
    const lines = bytes.toString("utf8", 0, count).split("\n");
    return start === 0 ? lines : lines.slice(1);
  } finally {
    fs.closeSync(descriptor);
  }
}
