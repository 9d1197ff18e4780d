/**
 * A list that stays true. Events say when to look again; what is shown is always a whole list, so
 * that nothing has to be worked out from events here, and a missed one costs nothing.
 *
 *   fetch ──▶ show ──▶ wait for an event, a new size, or until it is old ──▶ fetch …
 */
import type { ConnectionState } from "../wires/api/client/events.ts";
import { codeOf, wireCodes } from "../core/errors.ts";
import type { Context } from "./context.ts";
import { viewOf, type ListView, type ListDisplay } from "./list-views.ts";
import type { ListSource } from "./listing.ts";
import { isQuit } from "./terminal/screen.ts";

/** Ten a second are more than an eye can follow. */
const SHORTEST_MS = 100;

export async function watchList<Item, Answer extends object>(
  watching: ListDisplay<Item, Answer>,
): Promise<void> {
  await using view = viewOf(watching);
  await keepShowing({ ...watching, view, limit: watching.flags.limit });
}

interface LiveList<Item, Answer extends object> {
  readonly context: Context;
  readonly source: ListSource<Item, Answer>;
  readonly view: ListView<Item, Answer>;
  readonly limit: number;
}

/** Until the reader has enough. */
export async function keepShowing<Item, Answer extends object>(
  live: LiveList<Item, Answer>,
): Promise<void> {
  const { context, source, view } = live;
  const stop = new AbortController();
  const signal = AbortSignal.any([context.untilInterrupted(), stop.signal]);
  const bell = new Bell(signal);
  const fetch = () => source.fetch({ limit: Math.min(live.limit, view.limit), signal });
  const first = await fetch();
  await view.show(first);
  const stopKeys = context.listenForKeys((key) => {
    if (isQuit(key)) stop.abort();
  });
  const stopResizing = context.out.whenResized(() => bell.ring());
  let isLost = false;
  const onState = (state: ConnectionState) => {
    if (state.kind === "lost") void view.trouble(`${state.reason}; waiting for it to come back`);
    else if (isLost) bell.ring();
    isLost = state.kind === "lost";
  };
  const hearing = (async () => {
    const changes = source.changes({ from: first.sequence, signal, onState });
    for await (const _ of changes) bell.ring();
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
