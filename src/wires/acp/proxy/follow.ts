/**
 * The timelines of all agents behind proxies, as they grow: first the last lines that are there,
 * then every new one. Files are read from where the last look ended; one that was begun anew, as it
 * had grown too long, from its start.
 */
import * as fs from "node:fs";
import { join } from "node:path";
import { FOLLOW } from "./limits.ts";
import type { TimelineLine } from "./timeline.ts";

export interface FollowOptions {
  readonly folder: string;
  /** How many of the lines that are there. */
  readonly last: number;
  readonly isWanted: (line: TimelineLine) => boolean;
  readonly signal: AbortSignal;
}

export async function* followTimelines(options: FollowOptions): AsyncGenerator<TimelineLine> {
  const { folder, last, isWanted, signal } = options;
  const places = new Map<string, number>();
  const news = () => newLines(folder, places).filter(isWanted);
  const there = news().toSorted((a, b) => a.at.localeCompare(b.at));
  yield* there.slice(Math.max(0, there.length - last));
  const bell = new Bell(folder, signal);
  try {
    while (await bell.rung()) yield* news();
  } finally {
    bell.close();
  }
}

function newLines(folder: string, places: Map<string, number>): readonly TimelineLine[] {
  const names = namesIn(folder);
  for (const name of places.keys()) if (!names.includes(name)) places.delete(name);
  return names.flatMap((name) => {
    const path = join(folder, name);
    const size = fs.statSync(path, { throwIfNoEntry: false })?.size ?? 0;
    const place = places.get(name) ?? 0;
    const from = size < place ? 0 : place;
    if (size === from) return [];
    const text = textFrom(path, from);
    // The rest of a line that is being written comes with the next look.
    const whole = text.slice(0, text.lastIndexOf("\n") + 1);
    places.set(name, from + Buffer.byteLength(whole));
    return whole.split("\n").flatMap(lineIn);
  });
}

function namesIn(folder: string): readonly string[] {
  try {
    return fs.readdirSync(folder).filter((name) => name.endsWith(".jsonl"));
  } catch {
    return [];
  }
}

function textFrom(path: string, from: number): string {
  const file = fs.openSync(path, "r");
  try {
    const bytes = Buffer.alloc(FOLLOW.readBytes);
    return bytes.toString("utf8", 0, fs.readSync(file, bytes, 0, bytes.length, from));
  } finally {
    fs.closeSync(file);
  }
}

function lineIn(text: string): readonly TimelineLine[] {
  try {
    const line = JSON.parse(text) as Partial<TimelineLine>;
    return typeof line.at === "string" && typeof line.status === "string"
      ? [line as TimelineLine]
      : [];
  } catch {
    return [];
  }
}

/** Rings when something changed in the folder, or may have. */
class Bell {
  readonly #signal: AbortSignal;
  readonly #timer: NodeJS.Timeout;
  readonly #watcher: fs.FSWatcher | undefined;
  #isRung = false;
  #wake: () => void = () => undefined;

  constructor(folder: string, signal: AbortSignal) {
    this.#signal = signal;
    // Also for a folder that comes only later, and where the system does not tell of changes.
    this.#timer = setInterval(() => this.#ring(), FOLLOW.pollMs);
    signal.addEventListener("abort", this.#ring);
    try {
      this.#watcher = fs.watch(folder, () => this.#ring()).on("error", () => undefined);
    } catch {
      this.#watcher = undefined;
    }
  }

  async rung(): Promise<boolean> {
    if (!this.#isRung && !this.#signal.aborted) {
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }
    this.#isRung = false;
    return !this.#signal.aborted;
  }

  close(): void {
    clearInterval(this.#timer);
    this.#watcher?.close();
    this.#signal.removeEventListener("abort", this.#ring);
  }

  readonly #ring = (): void => {
    this.#isRung = true;
    this.#wake();
  };
}
