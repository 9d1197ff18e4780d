/**
 * `watch`: the list as it changes. On a terminal one picture, drawn again when a file changes and
 * when time makes a difference; for a program a new list whenever it says something else.
 */
import type { StatusReading } from "../../wires/files/read.ts";
import { watchStatusDir } from "../../wires/files/watch.ts";
import type { Context } from "../context.ts";
import { isQuit, Screen } from "../terminal/screen.ts";
import { truncate } from "../terminal/width.ts";
import { agentsOf, type Agents } from "./agents.ts";
import { linesOf, type ListOptions } from "./list.ts";

export interface WatchOptions extends ListOptions {
  readonly intervalMs: number;
}

/** Rescans are for disks that do not tell of changes; they may take longer than a redraw. */
const RESCAN_INTERVALS = 5;

export async function watch(context: Context, options: WatchOptions): Promise<void> {
  const { directory, intervalMs } = options;
  const ending = new AbortController();
  const signal = AbortSignal.any([context.untilInterrupted(), ending.signal]);
  await using view = context.out.isTerminal
    ? new Picture(context, options)
    : new Feed(context, options);
  const readings = new Map<string, StatusReading>();
  const show = () => {
    const nowMs = Date.now();
    view.show(agentsOf(readings.values(), options, nowMs));
  };
  const stopResizing = context.out.whenResized(show);
  const stopKeys = context.listenForKeys((key) => {
    if (isQuit(key)) ending.abort();
  });
  const changes = watchStatusDir(directory, { signal, rescanMs: intervalMs * RESCAN_INTERVALS });
  const redraw = setInterval(show, intervalMs);
  try {
    for await (const { read, removed } of changes) {
      for (const path of removed) readings.delete(path);
      for (const reading of read) readings.set(reading.path, reading);
      show();
    }
  } finally {
    clearInterval(redraw);
    stopResizing();
    stopKeys();
  }
}

class Picture implements AsyncDisposable {
  readonly #context: Context;
  readonly #options: WatchOptions;
  readonly #screen: Screen;

  constructor(context: Context, options: WatchOptions) {
    this.#context = context;
    this.#options = options;
    this.#screen = new Screen(context.out);
  }

  show(agents: Agents): void {
    const { out } = this.#context;
    const lines = linesOf(agents, this.#context, this.#options);
    const warnings = agents.warnings.map((each) => {
      return out.paint("yellow", truncate(each, out.columns));
    });
    const notes = [...warnings, out.paint("dim", "q quits")];
    void this.#screen.draw([...lines, "", ...notes]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#screen.close();
  }
}

class Feed implements AsyncDisposable {
  readonly #context: Context;
  readonly #options: WatchOptions;
  readonly #warned = new Set<string>();
  #shown: string | undefined;

  constructor(context: Context, options: WatchOptions) {
    this.#context = context;
    this.#options = options;
  }

  show(agents: Agents): void {
    const { out, err } = this.#context;
    for (const warning of agents.warnings.filter((each) => !this.#warned.has(each))) {
      void err.line(warning);
    }
    this.#warned.clear();
    for (const warning of agents.warnings) this.#warned.add(warning);
    // Ages grow all the time; that alone is no news.
    const ageless = { ...agents, rows: agents.rows.map((row) => ({ ...row, ageMs: 0 })) };
    const text = linesOf(ageless, this.#context, this.#options).join("\n");
    if (text === this.#shown) return;
    this.#shown = text;
    void out.line(linesOf(agents, this.#context, this.#options).join("\n"));
  }

  async [Symbol.asyncDispose](): Promise<void> {}
}
