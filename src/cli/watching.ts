/**
 * A list that stays true. Events say when to look again; what is shown is always a whole list, so
 * that nothing has to be worked out from events here, and a missed one costs nothing.
 *
 *   fetch ──▶ show ──▶ wait for an event, a second on a screen, or a new size ──▶ fetch …
 */
import type { ConnectionState } from "../wires/api/client/events.ts";
import { codeOf, wireCodes } from "../core/errors.ts";
import { viewOf, type Watching } from "./list-views.ts";
import { fetchList } from "./listing.ts";
import { isQuit } from "./terminal/screen.ts";

/** Ten a second are more than an eye can follow. */
const SHORTEST_MS = 100;
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
    if (isQuit(key)) stop.abort();
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
