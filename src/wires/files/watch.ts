/**
 * A folder of status files, as it changes. The system tells which names changed, and those alone
 * are read; a slow look at all of them finds what it did not tell (network disks, lost notices).
 *
 *                 the folder is gone, or another one has its name
 *        watched ────────────────────────────────────────────────────▶ awaited
 *           ▲                                                             │
 *           └───────────── it is there (again): everything is read ───────┘
 *
 * While it is awaited, the nearest folder above it that exists is watched instead. What changed
 * gathers by path until somebody asks, the latest in place of the earlier: a slow reader misses
 * steps in between, never where things stand, and holds no more than the folder does.
 */
import { lstatSync, statSync, watch, type FSWatcher, type Stats } from "node:fs";
import { basename, dirname, relative, resolve, sep } from "node:path";
import { RollcallError } from "../../core/errors.ts";
import { pathIn, statusFolder } from "./folder.ts";
import { STATUS_FOLDER, STATUS_WATCH } from "./limits.ts";
import { readStatus, statusNames, type StatusReading } from "./read.ts";

export interface StatusChanges {
  /** Files that are new or changed. */
  readonly read: readonly StatusReading[];
  /** The paths of those that are gone. */
  readonly removed: readonly string[];
}

export interface StatusWatchOptions {
  readonly signal?: AbortSignal;
  readonly rescanMs?: number;
}

/** First everything that is there, if only nothing; then what changes, until it is closed. */
export function watchStatusDir(
  folder: string = statusFolder(),
  options: StatusWatchOptions = {},
): StatusWatch {
  return new StatusWatch(folder, options);
}

export class StatusWatch implements AsyncIterable<StatusChanges>, Disposable {
  readonly #folder: string;
  readonly #signal: AbortSignal | undefined;
  readonly #rescan: NodeJS.Timeout;
  #settling: NodeJS.Timeout | undefined;
  #watcher: FSWatcher | undefined;
  /** The folder that is watched, as the disk knows it; nothing while it is awaited. */
  #identity: string | undefined;
  /** Stamps of the files last read, by name: to tell a change from a mere notice. */
  readonly #stamps = new Map<string, string>();
  /** Names to be looked at. */
  readonly #noticed = new Set<string>();
  #mustScan = true;
  #isBusy = false;
  #isClosed = false;
  readonly #read = new Map<string, StatusReading>();
  readonly #removed = new Set<string>();
  #hasNews = false;
  /** Whether everything that was there at the start was told. */
  #isIntroduced = false;
  #failure: RollcallError | undefined;
  #wake: () => void = () => undefined;

  constructor(folder: string, { signal, rescanMs = STATUS_WATCH.rescanMs }: StatusWatchOptions) {
    this.#folder = folder;
    this.#signal = signal;
    this.#rescan = setInterval(() => {
      this.#mustScan = true;
      this.#settle();
    }, rescanMs);
    signal?.addEventListener("abort", this.#close);
    if (signal?.aborted) this.close();
    else void this.#look();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<StatusChanges, void, undefined> {
    try {
      for (;;) {
        if (this.#isClosed) return;
        if (this.#failure !== undefined) throw this.#failure;
        if (this.#hasNews) yield this.#take();
        else await new Promise<void>((woken) => (this.#wake = woken));
      }
    } finally {
      this.close();
    }
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    clearInterval(this.#rescan);
    clearTimeout(this.#settling);
    this.#signal?.removeEventListener("abort", this.#close);
    this.#watcher?.close();
    this.#wake();
  }

  [Symbol.dispose](): void {
    this.close();
  }

  readonly #close = () => this.close();

  #take(): StatusChanges {
    const changes = { read: [...this.#read.values()], removed: [...this.#removed] };
    this.#read.clear();
    this.#removed.clear();
    this.#hasNews = false;
    return changes;
  }

  /** Soon: notices come in groups. */
  #settle(delayMs: number = STATUS_WATCH.settleMs): void {
    if (this.#isClosed) return;
    this.#settling ??= setTimeout(() => void this.#look(), delayMs);
  }

  async #look(): Promise<void> {
    this.#settling = undefined;
    if (this.#isBusy) return;
    this.#isBusy = true;
    try {
      while (!this.#isClosed && (this.#mustScan || this.#noticed.size > 0)) {
        await this.#round();
        this.#wake();
      }
    } catch (error) {
      // Before anything was seen it is the caller's to know; later the next scan tries again.
      if (!(error instanceof RollcallError)) throw error;
      if (!this.#isIntroduced) this.#failure = error;
    } finally {
      this.#isBusy = false;
      this.#wake();
    }
    if (this.#watcher) return;
    this.#mustScan = true;
    this.#settle(STATUS_WATCH.pollMs);
  }

  async #round(): Promise<void> {
    const isScan = this.#mustScan;
    this.#mustScan = false;
    if (isScan) {
      this.#attach();
      const { names, overfull } = statusNames(this.#folder);
      for (const name of [...this.#stamps.keys(), ...names]) this.#noticed.add(name);
      for (const refused of overfull) this.#read.set(refused.path, refused);
    }
    const names = [...this.#noticed];
    this.#noticed.clear();
    let isNews = isScan && !this.#isIntroduced;
    for (const [i, name] of names.entries()) {
      if (this.#examine(name)) isNews = true;
      if (i % STATUS_WATCH.filesPerTurn === STATUS_WATCH.filesPerTurn - 1) await othersTurn();
      if (this.#isClosed) return;
    }
    this.#isIntroduced ||= isScan;
    this.#hasNews ||= isNews;
  }

  /** Whether there is something new about the file. */
  #examine(name: string): boolean {
    const path = pathIn(this.#folder, name);
    const stamp = stampOf(path);
    const known = this.#stamps.get(name);
    if (stamp === known) return false;
    if (known === undefined && this.#stamps.size >= STATUS_FOLDER.files) return false;
    const reading = stamp === undefined ? undefined : readStatus(path);
    if (stamp === undefined || reading === undefined || isMissing(reading)) {
      if (!this.#stamps.delete(name)) return false;
      this.#read.delete(path);
      this.#removed.add(path);
    } else {
      this.#stamps.set(name, stamp);
      this.#removed.delete(path);
      this.#read.set(path, reading);
    }
    return true;
  }

  /** Sees to it that the folder is watched, or the nearest one above it that is there. */
  #attach(): void {
    if (this.#identity !== undefined && this.#identity === identityOf(this.#folder)) return;
    this.#watcher?.close();
    this.#watcher = undefined;
    const wanted = resolve(this.#folder);
    this.#identity = identityOf(wanted);
    let place = wanted;
    while (identityOf(place) === undefined && place !== dirname(place)) place = dirname(place);
    try {
      this.#watcher = place === wanted ? this.#watchWanted(wanted) : this.#await(wanted, place);
    } catch {
      // It went away just now, or the system watches no more: looking has to do.
      this.#identity = undefined;
    }
  }

  #watchWanted(wanted: string): FSWatcher {
    return this.#watch(wanted, (name) => {
      // A folder tells of its own end by its own name; what follows may look the same.
      if (name === basename(wanted)) this.#identity = undefined;
      if (name === null || name === basename(wanted)) this.#mustScan = true;
      if (name?.endsWith(".json")) this.#noticed.add(name);
    });
  }

  #await(wanted: string, place: string): FSWatcher {
    const next = relative(place, wanted).split(sep)[0] ?? "";
    const watcher = this.#watch(place, (name) => {
      if (name === null || name === next || name === basename(place)) this.#mustScan = true;
    });
    // It may have come before the watch began.
    if (identityOf(resolve(place, next)) !== undefined) this.#mustScan = true;
    return watcher;
  }

  #watch(place: string, notice: (name: string | null) => void): FSWatcher {
    const watcher = watch(place, (_, name) => {
      notice(name);
      if (this.#mustScan || this.#noticed.size > 0) this.#settle();
    });
    return watcher.on("error", () => {
      this.#identity = undefined;
      this.#mustScan = true;
      this.#settle();
    });
  }
}

function isMissing(reading: StatusReading): boolean {
  return reading.kind === "refused" && reading.reason === "missing";
}

function stampOf(path: string): string | undefined {
  const stats = there(() => lstatSync(path));
  return stats && `${stats.ino} ${stats.mtimeMs} ${stats.size}`;
}

function identityOf(place: string): string | undefined {
  const stats = there(() => statSync(place));
  return stats?.isDirectory() === true ? `${stats.dev} ${stats.ino}` : undefined;
}

/** Nothing of what is gone, or may not be looked at. */
function there(look: () => Stats): Stats | undefined {
  try {
    return look();
  } catch {
    return undefined;
  }
}

function othersTurn(): Promise<void> {
  return new Promise((done) => setImmediate(done));
}
