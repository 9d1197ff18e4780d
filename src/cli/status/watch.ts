/**
 * `watch`: the list as it changes. On a terminal one picture, drawn again when a file changes and
 * when time makes a difference. In a pipe the table is printed at every interval, as the peer
 * does; the short forms, which it lacks, whenever they say something else.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { readStatusDir, type StatusReading } from "../../wires/files/read.ts";
import { watchStatusDir } from "../../wires/files/watch.ts";
import type { Context } from "../context.ts";
import { note } from "../print.ts";
import type { ListView } from "../list-views.ts";
import type { ListChanges, ListedPage, ListSource } from "../listing.ts";
import { Screen } from "../terminal/screen.ts";
import { truncate } from "../terminal/width.ts";
import { keepShowing } from "../watching.ts";
import { agentsOf, type AgentRow, type StatusAgents } from "./agents.ts";
import { linesOf, list, type StatusListOptions } from "./list.ts";

export interface WatchedListOptions extends StatusListOptions {
  readonly intervalMs: number;
}

/** More often is a waste; more seldom, and a timer would overflow. */
const INTERVAL = { leastMs: 100, mostMs: 3_600_000 } as const;
/** Rescans are for disks that do not tell of changes; they may take longer than a redraw. */
const RESCAN_INTERVALS = 5;

type ListedAgents = ListedPage<AgentRow, StatusAgents>;
type AgentsView = ListView<AgentRow, StatusAgents>;

export async function watch(context: Context, given: WatchedListOptions): Promise<void> {
  const intervalMs = Math.min(Math.max(given.intervalMs, INTERVAL.leastMs), INTERVAL.mostMs);
  const options = { ...given, intervalMs };
  if (!context.out.isTerminal && given.form === "table") return printEach(context, options);
  await using view = context.out.isTerminal ? picture(context, options) : feed(context, options);
  await keepShowing({ context, source: new WatchedFolder(options), view, limit: Infinity });
}

/** The peer clears the screen before each table: over ssh without a terminal, that redraws. */
const CLEAR = "\u001b[2J\u001b[H";

async function printEach(context: Context, options: WatchedListOptions): Promise<void> {
  const signal = context.untilInterrupted();
  while (!signal.aborted) {
    await context.out.write(CLEAR);
    await list(context, options);
    await sleep(options.intervalMs, undefined, { signal }).catch(() => undefined);
  }
}

/** Of thousands of files only those are read again that change. */
class WatchedFolder implements ListSource<AgentRow, StatusAgents> {
  readonly #options: WatchedListOptions;
  #readings: ReadonlyMap<string, StatusReading> | undefined;

  constructor(options: WatchedListOptions) {
    this.#options = options;
  }

  get place(): string {
    return this.#options.folder;
  }

  async fetch(): Promise<ListedAgents> {
    const readings = this.#readings?.values() ?? readStatusDir(this.place);
    const answer = agentsOf(readings, this.#options, Date.now());
    return { sequence: 0, total: answer.rows.length, items: answer.rows, answer };
  }

  async *changes({ signal }: ListChanges): AsyncGenerator<void> {
    const readings = new Map<string, StatusReading>();
    const rescanMs = this.#options.intervalMs * RESCAN_INTERVALS;
    for await (const { read, removed } of watchStatusDir(this.place, { signal, rescanMs })) {
      for (const path of removed) readings.delete(path);
      for (const reading of read) readings.set(reading.path, reading);
      this.#readings = readings;
      yield;
    }
  }
}

function picture(context: Context, options: WatchedListOptions): AgentsView {
  const { out } = context;
  const screen = new Screen(out);
  return {
    limit: Infinity,
    freshMs: options.intervalMs,
    async show({ answer }) {
      const warnings = answer.warnings.map((each) => truncate(each, out.columns));
      const painted = warnings.map((each) => out.paint("yellow", each));
      const lines = linesOf(answer, context, options);
      await screen.draw([...lines, "", ...painted, out.paint("dim", "q quits")]);
    },
    trouble: (text) => note(context, text),
    [Symbol.asyncDispose]: () => screen.close(),
  };
}

function feed(context: Context, options: WatchedListOptions): AgentsView {
  const { out, err } = context;
  let warned: ReadonlySet<string> = new Set();
  let shown: string | undefined;
  return {
    limit: Infinity,
    freshMs: options.intervalMs,
    async show({ answer }) {
      for (const each of answer.warnings) if (!warned.has(each)) await err.line(each);
      warned = new Set(answer.warnings);
      // Ages grow all the time; that alone is no news.
      const ageless = { ...answer, rows: answer.rows.map((row) => ({ ...row, ageMs: 0 })) };
      const text = linesOf(ageless, context, options).join("\n");
      if (text === shown) return;
      shown = text;
      await out.line(linesOf(answer, context, options).join("\n"));
    },
    trouble: (text) => note(context, text),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}
