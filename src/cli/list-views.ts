/**
 * How a list that changes is shown. On a screen it is a table drawn over itself. In a pipe it is a
 * line for each row that came, changed or went; with --json the whole list, each time on a line of
 * its own.
 */
import type { Context } from "./context.ts";
import { note, printJson } from "./print.ts";
import type { ListFlags } from "./flags.ts";
import {
  drawnList,
  tableRows,
  UNSEEN_FRESH_MS,
  type ListedPage,
  type ListLook,
  type ListSource,
} from "./listing.ts";
import { clean } from "./terminal/clean.ts";
import { Screen } from "./terminal/screen.ts";
import { timeOfDay } from "./terminal/time.ts";
import { truncate } from "./terminal/width.ts";

/** Ages grow, and heartbeats are no events. */
const AGEING_MS = 1_000;

export interface ListDisplay<Item, Answer extends object = object> {
  readonly context: Context;
  readonly source: ListSource<Item, Answer>;
  readonly look: ListLook<Item, Answer>;
  readonly flags: ListFlags & { readonly at?: number };
  /** How it is shown, where that is special. */
  readonly view?: () => ListView<Item, Answer>;
}

export interface ListView<Item, Answer extends object = object> extends AsyncDisposable {
  /** How many items are worth asking for. */
  readonly limit: number;
  /** How long it is good for when nothing happens. */
  readonly freshMs: number | undefined;
  show(listed: ListedPage<Item, Answer>): Promise<void>;
  trouble(text: string): Promise<void>;
}

export function viewOf<Item, Answer extends object>(
  watching: ListDisplay<Item, Answer>,
): ListView<Item, Answer> {
  if (watching.view) return watching.view();
  if (watching.flags.json === true) return jsonView(watching.context);
  return watching.context.out.isTerminal ? new ScreenView(watching) : new LinesView(watching);
}

class ScreenView<Item, Answer extends object> implements ListView<Item, Answer> {
  readonly #watching: ListDisplay<Item, Answer>;
  readonly #screen: Screen;
  readonly freshMs = AGEING_MS;
  #listed: ListedPage<Item, Answer> | undefined;
  #trouble = "";

  constructor(watching: ListDisplay<Item, Answer>) {
    this.#watching = watching;
    this.#screen = new Screen(watching.context.out);
  }

  /** A line each for where it is, the heading and how many more there are. */
  get limit(): number {
    return Math.max(1, this.#watching.context.out.rows - 3);
  }

  async show(listed: ListedPage<Item, Answer>): Promise<void> {
    this.#trouble = "";
    this.#listed = listed;
    await this.#draw();
  }

  async trouble(text: string): Promise<void> {
    this.#trouble = clean(text);
    await this.#draw();
  }

  async #draw(): Promise<void> {
    const { context, source, look: listing } = this.#watching;
    const { out } = context;
    const listed = this.#listed;
    const { items, total } = listed ?? { items: [], total: 0 };
    // The last column stays free: what is written there and what clears the line get in each
    // other's way.
    const width = out.columns - 1;
    const look = { width, paint: out.paint.bind(out) };
    const what = (listed && listing.summary?.(listed.answer)) || counted(total, listing.noun);
    const where = `${what} at ${source.place}, ${timeOfDay(Date.now()).slice(0, 8)}`;
    const title =
      this.#trouble === ""
        ? out.paint("dim", truncate(`${where}; q ends`, width))
        : out.paint("yellow", truncate(this.#trouble, width));
    const rows =
      !listed || items.length === 0
        ? [truncate(clean(listing.nothing), width)]
        : tableRows(listing, listed, { look, isWhole: false });
    const more = total - items.length;
    const rest = more > 0 ? [out.paint("dim", `… and ${more} more`)] : [];
    await this.#screen.draw([title, ...rows, ...rest]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#screen.close();
  }
}

class LinesView<Item, Answer extends object> implements ListView<Item, Answer> {
  readonly #watching: ListDisplay<Item, Answer>;
  readonly limit = Infinity;
  readonly freshMs = UNSEEN_FRESH_MS;
  #shown: ReadonlyMap<string, string> = new Map();
  #isFirst = true;

  constructor(watching: ListDisplay<Item, Answer>) {
    this.#watching = watching;
  }

  async show(listed: ListedPage<Item, Answer>): Promise<void> {
    const { items } = listed;
    const { context, look: listing } = this.#watching;
    const { out } = context;
    const look = { width: Infinity, paint: out.paint.bind(out) };
    const { heading, items: lines } = drawnList(listing, listed, { look, isWhole: true });
    if (this.#isFirst) await out.line(`${" ".repeat(TIME_WIDTH)}  ${heading}`);
    const time = timeOfDay(Date.now()).slice(0, 8);
    const shown = new Map<string, string>();
    for (const [i, item] of items.entries()) {
      const key = listing.key(item);
      const before = this.#shown.get(key);
      const now = factsOf(item);
      shown.set(key, now);
      if (before === now) continue;
      const what = before === undefined ? (this.#isFirst ? "is" : "new") : "changed";
      const [line = "", ...below] = lines[i] ?? [];
      await out.line(`${time} ${what.padEnd(7)}  ${line}`);
      for (const each of below) await out.line(`${" ".repeat(TIME_WIDTH)}  ${each}`);
    }
    for (const key of this.#shown.keys()) {
      if (!shown.has(key)) await out.line(`${time} ${"gone".padEnd(7)}  ${clean(key)}`);
    }
    this.#shown = shown;
    this.#isFirst = false;
  }

  trouble(text: string): Promise<void> {
    return note(this.#watching.context, text);
  }

  async [Symbol.asyncDispose](): Promise<void> {}
}

const TIME_WIDTH = "00:00:00 changed".length;

const SOFT = new Set(["lastHeartbeatAtMs", "reportedAtMs", "order"]);

/** The facts whose change counts as a change of the row; a heartbeat is none. */
function factsOf(item: unknown): string {
  return JSON.stringify(item, (name, value: unknown) => (SOFT.has(name) ? undefined : value));
}

function jsonView<Item, Answer extends object>(context: Context): ListView<Item, Answer> {
  let shown = "";
  return {
    limit: Infinity,
    freshMs: UNSEEN_FRESH_MS,
    async show({ items, answer }) {
      const now = factsOf(items);
      if (now === shown) return;
      shown = now;
      await printJson(context, answer);
    },
    trouble: (text) => note(context, text),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}

/** "1 policy", "2 policies": the noun is given in the plural. */
function counted(count: number, noun: string): string {
  return `${count} ${count === 1 ? noun.replace(/ies$/, "y").replace(/s$/, "") : noun}`;
}
