/**
 * Watching the log: the one contract behind every stream of every wire.
 *
 * A watcher gets every event after `from` whose topic begins with one of its prefixes, in order,
 * once each: first from the log, then live. A watcher is a cursor, not a buffer: it pulls from
 * the events all watchers share, and from the log when it is further behind, so a thousand slow
 * ones cost no memory and hold nobody up.
 *
 *   replaying ──caught up──▶ live ──too far behind──▶ cut (SLOW_CONSUMER)
 *       │ the log no longer reaches back
 *       └──▶ resync: start over from a fresh read of the state, then live
 *
 * Only what is durable is ever seen.
 */
import type { By } from "../core/by.ts";
import { eventFor } from "../core/fencing.ts";
import type { Event, RecordedEvent } from "../core/events.ts";
import { codeOf, RollcallError } from "../core/errors.ts";
import { WATCH } from "../core/limits.ts";
import type { WatchHub } from "./watch-hub.ts";

export type WatchItem =
  | { readonly kind: "event"; readonly recorded: RecordedEvent }
  /** Nothing that was asked for happened up to here: a place to resume from. */
  | { readonly kind: "bookmark"; readonly sequence: number }
  /** The events up to here are no longer available: read the state anew. */
  | { readonly kind: "resync"; readonly sequence: number };

export interface WatchOptions {
  /** Topics begin with one of these; none means every topic. */
  readonly prefixes?: readonly string[];
  /** The last sequence already seen; absent means from now on. */
  readonly from?: number;
  /** The subscriber, who is shown no secret of others; without one it is the daemon itself. */
  readonly by?: By | undefined;
  /** Passes over events that are not for this watcher; without it all are. */
  readonly isVisible?: ((event: Event) => boolean) | undefined;
  readonly signal?: AbortSignal;
}

export class Watch implements AsyncIterable<WatchItem> {
  readonly #hub: WatchHub;
  readonly #prefixes: readonly string[];
  readonly #by: By | undefined;
  readonly #isVisible: WatchOptions["isVisible"];
  /** Watchers with the same one are shown the same; absent where nobody can tell. */
  readonly #audience: string | undefined;
  readonly #onClose: () => void;
  readonly #cut = new AbortController();
  #cursor: number;
  /** The last sequence the consumer knows of, by an event, a bookmark or a resync. */
  #told: number;
  #isLive: boolean;
  #isBookmarkDue: boolean;
  /** Up to here it is not to blame for being behind: it came all at once, while it waited. */
  #excusedTo = 0;
  #isClosed = false;
  #replay: AsyncGenerator<readonly RecordedEvent[]> | undefined;
  /** Called when there is more, once: its consumer waits. */
  #waiter: (() => void) | undefined;

  constructor(hub: WatchHub, options: WatchOptions, onClose: () => void) {
    this.#hub = hub;
    this.#prefixes = options.prefixes?.includes("") ? [] : (options.prefixes ?? []);
    this.#by = options.by;
    this.#isVisible = options.isVisible;
    const { by } = options;
    this.#audience = options.isVisible
      ? undefined
      : JSON.stringify([this.#prefixes, by?.principal.name, by?.isOperator]);
    this.#onClose = onClose;
    this.#cursor = options.from ?? hub.head;
    this.#told = this.#cursor;
    this.#isLive = options.from === undefined;
    this.#isBookmarkDue = !this.#isLive;
  }

  /** Aborts, with the reason, when this watcher is cut while its consumer is busy elsewhere. */
  get cut(): AbortSignal {
    return this.#cut.signal;
  }

  /** The next items, at least one; none once it is closed. Rejects when it was cut. */
  async pull(): Promise<readonly WatchItem[]> {
    for (;;) {
      if (this.#cut.signal.aborted) throw this.#cut.signal.reason;
      const known = this.#atHand();
      if (known) return known;
      const isCaughtUp = this.#isCaughtUp;
      const items = isCaughtUp ? [] : await this.#fromLog();
      if (items.length > 0) return items;
      if (isCaughtUp || this.#cursor > this.#hub.head) await this.#somethingNew();
    }
  }

  /**
   * Hands over what happens as it happens, without a promise for each, while `take` wants more.
   * Resolves when it does not, when this is closed or cut, or has to be read from the log: then
   * `pull` goes on. Rejects with what `take` throws.
   */
  async follow(take: (items: readonly WatchItem[]) => boolean): Promise<void> {
    let failure: { readonly error: unknown } | undefined;
    await new Promise<void>((resolve) => {
      const serve = () => {
        try {
          for (let items = this.#atHand(); items; items = this.#atHand()) {
            if (items.length === 0 || !take(items)) return resolve();
          }
          if (this.#isCaughtUp) this.#waiter = serve;
          else resolve();
        } catch (error) {
          failure = { error };
          resolve();
        }
      };
      serve();
    });
    if (failure) throw failure.error;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<WatchItem> {
    try {
      for (;;) {
        const items = await this.pull();
        if (items.length === 0) return;
        yield* items;
      }
    } finally {
      this.close();
    }
  }

  /** Idempotent; a caller that waits in `pull` gets nothing more. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#onClose();
    this.#endReplay();
    this.takeTurn();
  }

  /** The hub's call: all between the head that was and the head is of these topics. */
  wakeFor(topics: ReadonlySet<string>, before: number): void {
    const isWaiting = this.#waiter !== undefined && this.#cursor === before;
    if (isWaiting && !this.#wantsAny(topics)) {
      this.#cursor = this.#hub.head;
      if (this.#cursor - this.#told < WATCH.bookmarkEvents) return;
    }
    this.wake();
  }

  /** The hub's call: there is more, or the state moved. Its turn comes with the round. */
  wake(): void {
    const { head } = this.#hub;
    if (this.#waiter) {
      this.#excusedTo = head;
      this.#hub.round.add(this);
    } else if (this.#isLive && head - Math.max(this.#cursor, this.#excusedTo) > WATCH.lagEvents) {
      this.#cutOff();
    }
  }

  /** The round's call: its turn has come. */
  takeTurn(): void {
    const waiter = this.#waiter;
    this.#waiter = undefined;
    waiter?.();
  }

  /**
   * Sends a bookmark as soon as it is caught up, however little was skipped: for a watcher that
   * must know that nothing it asked for has happened, and not only that nothing arrived.
   */
  bookmark(): void {
    this.#isBookmarkDue = true;
    this.takeTurn();
  }

  #cutOff(): void {
    this.#hub.cuts += 1;
    const reason = `more than ${WATCH.lagEvents} events behind; resume from ${this.#told}`;
    this.#cut.abort(new RollcallError("SLOW_CONSUMER", reason));
    this.close();
  }

  get #isCaughtUp(): boolean {
    return this.#cursor === this.#hub.head;
  }

  /** The items that need no waiting; none once it is closed. */
  #atHand(): readonly WatchItem[] | undefined {
    for (;;) {
      if (this.#isClosed) return [];
      const isCaughtUp = this.#isCaughtUp;
      if (!isCaughtUp && !this.#isNear) return undefined;
      const items = isCaughtUp ? this.#whenCaughtUp() : this.#fromRecent();
      if (items.length > 0) return items;
      if (isCaughtUp) return undefined;
    }
  }

  #whenCaughtUp(): readonly WatchItem[] {
    this.#isLive = true;
    this.#endReplay();
    if (!this.#isBookmarkDue && this.#cursor - this.#told < WATCH.bookmarkEvents) return [];
    this.#isBookmarkDue = false;
    this.#told = this.#cursor;
    return [{ kind: "bookmark", sequence: this.#cursor }];
  }

  /** Up to here it needs none of the events that all watchers share. */
  get seen(): number {
    return this.#isNear ? this.#cursor : Infinity;
  }

  /** Whether the events that all watchers share reach back to it. */
  get #isNear(): boolean {
    return this.#cursor < this.#hub.head && this.#cursor + 1 >= this.#hub.recent.first;
  }

  #fromRecent(): readonly WatchItem[] {
    this.#endReplay();
    const { recent, pages } = this.#hub;
    const known = this.#audience === undefined ? undefined : pages.get(this.#audience);
    const after = this.#cursor;
    if (known?.after === after) {
      this.#cursor = known.upTo;
      if (known.items.length > 0) this.#told = this.#cursor;
      return known.items;
    }
    const items = this.#pass(recent.after(after, WATCH.pullEvents));
    if (this.#audience !== undefined) {
      pages.set(this.#audience, { after, upTo: this.#cursor, items });
    }
    return items;
  }

  async #fromLog(): Promise<readonly WatchItem[]> {
    if (this.#cursor > this.#hub.head) return this.#fromTheFuture();
    try {
      this.#replay ??= this.#hub.replay(this.#cursor);
      const page = await this.#replay.next();
      if (!page.done) return this.#pass(page.value.filter((e) => e.sequence > this.#cursor));
      this.#replay = undefined;
      return [];
    } catch (error) {
      this.#replay = undefined;
      if (codeOf(error) === "OUT_OF_RANGE") return this.#resync();
      throw error;
    }
  }

  /** Asked to go on from a sequence not seen here: this node is behind, or another log wrote it. */
  async #fromTheFuture(): Promise<readonly WatchItem[]> {
    return this.#cursor > (await this.#hub.barrier()) ? this.#resync() : [];
  }

  #resync(): readonly WatchItem[] {
    this.#cursor = this.#hub.head;
    this.#told = this.#cursor;
    this.#isBookmarkDue = false;
    return [{ kind: "resync", sequence: this.#cursor }];
  }

  #pass(page: readonly RecordedEvent[]): readonly WatchItem[] {
    const items: WatchItem[] = [];
    for (const recorded of page) {
      this.#cursor = recorded.sequence;
      const { event } = recorded;
      if (!this.#isWanted(event.type) || this.#isVisible?.(event) === false) continue;
      items.push({ kind: "event", recorded: this.#by ? eventFor(recorded, this.#by) : recorded });
    }
    if (items.length > 0) this.#told = this.#cursor;
    return items;
  }

  #wantsAny(topics: ReadonlySet<string>): boolean {
    return [...topics].some((topic) => this.#isWanted(topic));
  }

  #isWanted(topic: string): boolean {
    const prefixes = this.#prefixes;
    return prefixes.length === 0 || prefixes.some((prefix) => topic.startsWith(prefix));
  }

  async #somethingNew(): Promise<void> {
    if (!this.#isClosed) await new Promise<void>((resolve) => (this.#waiter = resolve));
  }

  #endReplay(): void {
    // It is closed, whatever the log says to that.
    this.#replay?.return(undefined).catch(() => undefined);
    this.#replay = undefined;
  }
}
