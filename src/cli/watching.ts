/**
 * A list that stays true. Events say when to look again; what is shown is always a whole list, so
 * that nothing has to be worked out from events here, and a missed one costs nothing.
 *
 *   fetch ──▶ show ──▶ wait for an event, a second on a screen, or a new size ──▶ fetch …
 *
 * On a screen it is a table drawn over itself. In a pipe it is a line for each row that came,
 * changed or went; with --json the whole list, each time on a line of its own.
 */
import type { Client } from "../client/client.ts";
import type { ConnectionState } from "../client/events.ts";
import { codeOf, wireCodes } from "../core/errors.ts";
import type { Context } from "./context.ts";
import { note, printJson } from "./daemon.ts";
import type { ListFlags } from "./flags.ts";
import { fetchList, rowsOf, type Listed, type Listing } from "./listing.ts";
import { clean } from "./terminal/clean.ts";
import { Screen } from "./terminal/screen.ts";
import { timeOfDay } from "./terminal/time.ts";
import { truncate } from "./terminal/width.ts";

/** Ten a second are more than an eye can follow. */
const SHORTEST_MS = 100;
/** Ages grow, and heartbeats are no events. */
const AGEING_MS = 1_000;

export interface Watching<Item> {
  readonly context: Context;
  readonly daemon: Client;
  readonly listing: Listing<Item>;
  readonly flags: ListFlags;
}

interface ListView<Item> extends AsyncDisposable {
  /** How many items are worth asking for. */
  readonly limit: number;
  /** How long it is good for when nothing happens. */
  readonly freshMs: number | undefined;
  show(listed: Listed<Item>): Promise<void>;
  trouble(text: string): Promise<void>;
}

export async function watchList<Item>(watching: Watching<Item>): Promise<void> {
  const { context, daemon, listing, flags } = watching;
  const stop = new AbortController();
  const signal = AbortSignal.any([context.untilInterrupted(), stop.signal]);
  const bell = new Bell(signal);
  await using view = viewOf(watching);
  const fetch = () => {
    const limit = Math.min(flags.limit, view.limit);
    return fetchList(daemon, listing, { limit, signal });
  };
  const first = await fetch();
  await view.show(first);
  const stopKeys = context.listenForKeys((key) => {
    if (key === "q" || key === "Q") stop.abort();
  });
  const stopResizing = context.out.whenResized(() => bell.ring());
  let isLost = false;
  const onState = (state: ConnectionState) => {
    if (state.kind === "lost") void view.trouble(`${state.reason}; waiting for it to come back`);
    else if (isLost) bell.ring();
    isLost = state.kind === "lost";
  };
  const { topics } = listing;
  const hearing = (async () => {
    const stream = daemon.events({ from: first.sequence, topics, signal, onState });
    for await (const _ of stream) bell.ring();
  })();
  // Without events there is nothing to watch: whatever ends them ends this.
  hearing.catch(() => stop.abort());
  try {
    while (await bell.rung(view.freshMs)) {
      try {
        await view.show(await fetch());
      } catch (error) {
        if (signal.aborted) break;
        // The stream of events says so, and when it is over.
        if (wireCodes(codeOf(error)).retry === "never") throw error;
      }
    }
  } finally {
    stop.abort();
    stopKeys();
    stopResizing();
  }
  await hearing;
}

/** Rung by anybody, heard once, and not more often than is of use. */
class Bell {
  readonly #signal: AbortSignal;
  #isRung = false;
  #wake: () => void = () => undefined;

  constructor(signal: AbortSignal) {
    this.#signal = signal;
    signal.addEventListener("abort", () => this.#wake(), { once: true });
  }

  ring(): void {
    this.#isRung = true;
    this.#wake();
  }

  /** Resolves when it is time to look: false when there is nothing more to look at. */
  async rung(withinMs: number | undefined): Promise<boolean> {
    await this.#sleep(SHORTEST_MS, () => false);
    await this.#sleep(withinMs, () => this.#isRung);
    this.#isRung = false;
    return !this.#signal.aborted;
  }

  async #sleep(ms: number | undefined, isEnough: () => boolean): Promise<void> {
    if (this.#signal.aborted || isEnough()) return;
    await new Promise<void>((resolve) => {
      const timer = ms === undefined ? undefined : setTimeout(resolve, ms);
      this.#wake = () => {
        if (!this.#signal.aborted && !isEnough()) return;
        clearTimeout(timer);
        resolve();
      };
    });
    this.#wake = () => undefined;
  }
}

function viewOf<Item>(watching: Watching<Item>): ListView<Item> {
  if (watching.flags.json === true) return new JsonView(watching);
  return watching.context.out.isTerminal ? new ScreenView(watching) : new LinesView(watching);
}

class ScreenView<Item> implements ListView<Item> {
  readonly #watching: Watching<Item>;
  readonly #screen: Screen;
  readonly freshMs = AGEING_MS;
  #listed: Listed<Item> | undefined;
  #trouble = "";

  constructor(watching: Watching<Item>) {
    this.#watching = watching;
    this.#screen = new Screen(watching.context.out);
  }

  /** A line each for where it is, the heading and how many more there are. */
  get limit(): number {
    return Math.max(1, this.#watching.context.out.rows - 3);
  }

  async show(listed: Listed<Item>): Promise<void> {
    this.#trouble = "";
    this.#listed = listed;
    await this.#draw();
  }

  async trouble(text: string): Promise<void> {
    this.#trouble = clean(text);
    await this.#draw();
  }

  async #draw(): Promise<void> {
    const { context, daemon, listing } = this.#watching;
    const { out } = context;
    const { items = [], total = 0 } = this.#listed ?? {};
    // The last column stays free: what is written there and what clears the line get in each
    // other's way.
    const width = out.columns - 1;
    const look = { width, paint: out.paint.bind(out) };
    const where = `${total} ${listing.noun} at ${daemon.url}, ${timeOfDay(Date.now()).slice(0, 8)}`;
    const title =
      this.#trouble === ""
        ? out.paint("dim", truncate(`${where}; q ends`, width))
        : out.paint("yellow", truncate(this.#trouble, width));
    const rows =
      items.length === 0
        ? [truncate(clean(listing.nothing), width)]
        : rowsOf(listing, items, { look, isWhole: false });
    const more = total - items.length;
    const rest = more > 0 ? [out.paint("dim", `… and ${more} more`)] : [];
    await this.#screen.draw([title, ...rows, ...rest]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#screen.close();
  }
}

class LinesView<Item> implements ListView<Item> {
  readonly #watching: Watching<Item>;
  readonly limit = Infinity;
  readonly freshMs = undefined;
  #shown: ReadonlyMap<string, string> = new Map();
  #isFirst = true;

  constructor(watching: Watching<Item>) {
    this.#watching = watching;
  }

  async show({ items }: Listed<Item>): Promise<void> {
    const { context, listing } = this.#watching;
    const { out } = context;
    const look = { width: Infinity, paint: out.paint.bind(out) };
    const [heading = "", ...lines] = rowsOf(listing, items, { look, isWhole: true });
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
      await out.line(`${time} ${what.padEnd(7)}  ${lines[i] ?? ""}`);
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

/** What makes a row another one; a heartbeat does not. */
function factsOf(item: unknown): string {
  return JSON.stringify(item, (name, value: unknown) =>
    name === "lastHeartbeatAtMs" ? undefined : value,
  );
}

class JsonView<Item> implements ListView<Item> {
  readonly #watching: Watching<Item>;
  readonly limit = Infinity;
  readonly freshMs = undefined;
  #shown = "";

  constructor(watching: Watching<Item>) {
    this.#watching = watching;
  }

  async show({ items, answer }: Listed<Item>): Promise<void> {
    const now = factsOf(items);
    if (now === this.#shown) return;
    this.#shown = now;
    await printJson(this.#watching.context, answer);
  }

  trouble(text: string): Promise<void> {
    return note(this.#watching.context, text);
  }

  async [Symbol.asyncDispose](): Promise<void> {}
}
