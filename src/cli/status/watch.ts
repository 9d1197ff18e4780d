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

/** More often is a waste; more seldom, and a timer would overflow. */
const INTERVAL = { leastMs: 100, mostMs: 3_600_000 } as const;
/** Rescans are for disks that do not tell of changes; they may take longer than a redraw. */
const RESCAN_INTERVALS = 5;

interface View extends AsyncDisposable {
  show(agents: Agents): Promise<void>;
}

export async function watch(context: Context, options: WatchOptions): Promise<void> {
  const ending = new AbortController();
  const signal = AbortSignal.any([context.untilInterrupted(), ending.signal]);
  const everyMs = Math.min(Math.max(options.intervalMs, INTERVAL.leastMs), INTERVAL.mostMs);
  await using view: View = context.out.isTerminal
    ? new Picture(context, options)
    : new Feed(context, options);
  const readings = new Map<string, StatusReading>();
  let isShowing = false;
  const show = async () => {
    // A reader that is slow gets fewer lists, not a queue of them.
    if (isShowing) return;
    isShowing = true;
    await view.show(agentsOf(readings.values(), options, Date.now()));
    isShowing = false;
  };
  const stopResizing = context.out.whenResized(() => void show());
  const stopKeys = context.listenForKeys((key) => {
    if (isQuit(key)) ending.abort();
  });
  const redraw = setInterval(() => void show(), everyMs);
  const rescanMs = everyMs * RESCAN_INTERVALS;
  try {
    for await (const { read, removed } of watchStatusDir(options.folder, { signal, rescanMs })) {
      for (const path of removed) readings.delete(path);
      for (const reading of read) readings.set(reading.path, reading);
      await show();
    }
  } finally {
    clearInterval(redraw);
    stopResizing();
    stopKeys();
  }
}

class Picture implements View {
  readonly #context: Context;
  readonly #options: WatchOptions;
  readonly #screen: Screen;

  constructor(context: Context, options: WatchOptions) {
    this.#context = context;
    this.#options = options;
    this.#screen = new Screen(context.out);
  }

  async show(agents: Agents): Promise<void> {
    const { out } = this.#context;
    const warnings = agents.warnings.map((each) => {
      return out.paint("yellow", truncate(each, out.columns));
    });
    const lines = linesOf(agents, this.#context, this.#options);
    await this.#screen.draw([...lines, "", ...warnings, out.paint("dim", "q quits")]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#screen.close();
  }
}

class Feed implements View {
  readonly #context: Context;
  readonly #options: WatchOptions;
  #warned: ReadonlySet<string> = new Set();
  #shown: string | undefined;

  constructor(context: Context, options: WatchOptions) {
    this.#context = context;
    this.#options = options;
  }

  async show(agents: Agents): Promise<void> {
    const { out, err } = this.#context;
    for (const warning of agents.warnings) {
      if (!this.#warned.has(warning)) await err.line(warning);
    }
    this.#warned = new Set(agents.warnings);
    // Ages grow all the time; that alone is no news.
    const ageless = { ...agents, rows: agents.rows.map((row) => ({ ...row, ageMs: 0 })) };
    const text = linesOf(ageless, this.#context, this.#options).join("\n");
    if (text === this.#shown) return;
    this.#shown = text;
    await out.line(linesOf(agents, this.#context, this.#options).join("\n"));
  }

  async [Symbol.asyncDispose](): Promise<void> {}
}
