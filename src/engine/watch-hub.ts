/**
 * What all watchers of a node share: the last events, the pages made of them once for everybody,
 * and the order in which they are woken.
 */
import { setImmediate as endOfTurn } from "node:timers/promises";
import { decode, type RecordedEvent } from "../core/events.ts";
import { refusalError, RollcallError } from "../core/errors.ts";
import { atMost, invalid, tooLong } from "../core/fields.ts";
import { FIELD, WATCH } from "../core/limits.ts";
import { LOCAL } from "../core/principals.ts";
import { checkShare, Holdings, wishOf } from "../core/shares.ts";
import type { Log } from "../log/log.ts";
import { Recent } from "./recent.ts";
import { WakeRound } from "./wake-round.ts";
import { Watch, type WatchItem, type WatchOptions } from "./watch.ts";

export interface WatchHubOptions {
  readonly log: Log;
  /** The head of the whole cluster; this node may be behind it. */
  readonly barrier: () => Promise<number>;
}

/** The events after a sequence, as all watchers of one audience are shown them. */
interface SharedPage {
  readonly after: number;
  readonly upTo: number;
  readonly items: readonly WatchItem[];
}

export class WatchHub {
  readonly #log: Log;
  readonly #watches = new Set<Watch>();
  readonly #holdings = new Holdings();
  readonly barrier: () => Promise<number>;
  readonly recent = new Recent();
  /** The last page of each audience, made once for a thousand watchers; until more happens. */
  readonly pages = new Map<string, SharedPage>();
  readonly round = new WakeRound();
  #head = 0;
  /** Watchers that were cut since the start. */
  cuts = 0;

  constructor({ log, barrier }: WatchHubOptions) {
    this.#log = log;
    this.barrier = barrier;
  }

  /** The sequence of the last durable event. */
  get head(): number {
    return this.#head;
  }

  get size(): number {
    return this.#watches.size;
  }

  watch(options: WatchOptions): Watch {
    const prefixes = options.prefixes ?? [];
    const refusal = invalid(
      atMost("topics", prefixes.length, WATCH.prefixes),
      ...prefixes.map((prefix) => tooLong("topics", prefix, FIELD.keyLength)),
    );
    if (refusal) throw refusalError(refusal);
    const from = options.from;
    if (from !== undefined && (!Number.isSafeInteger(from) || from < 0)) {
      throw new RollcallError("INVALID_ARGUMENT", `from is ${from}, not a sequence`);
    }
    const { name: owner } = options.by?.principal ?? LOCAL;
    const wish = wishOf(this.#holdings, owner);
    checkShare({ limit: WATCH.watchers, noun: "watchers" }, wish);
    const watch = new Watch(this, options, () => {
      if (this.#watches.delete(watch)) this.#holdings.remove(owner);
    });
    this.#watches.add(watch);
    this.#holdings.add(owner);
    const { signal } = options;
    if (signal?.aborted) watch.close();
    signal?.addEventListener("abort", () => watch.close(), { once: true });
    return watch;
  }

  /** Shows what has become durable; the first follows directly on the head. */
  publish(recorded: readonly RecordedEvent[]): void {
    const last = recorded.at(-1);
    if (!last) return;
    // Without watchers nothing is kept: one that comes later reads the log.
    if (this.#watches.size === 0) this.recent.clear();
    else this.recent.push(recorded);
    this.pages.clear();
    const before = this.#head;
    this.#head = last.sequence;
    const topics = new Set(recorded.map(({ event }) => event.type));
    let seen = this.#head;
    for (const watch of this.#watches) {
      watch.wakeFor(topics, before);
      seen = Math.min(seen, watch.seen);
    }
    this.recent.seen(seen);
    this.round.start();
  }

  /** The state was taken over from a snapshot: what lies between is only in the log. */
  skipTo(head: number): void {
    this.recent.clear();
    this.pages.clear();
    this.#head = head;
    for (const watch of this.#watches) watch.wake();
    this.round.start();
  }

  /** The log after a sequence, for a watcher behind the recent events: a bit a turn. */
  async *replay(after: number): AsyncGenerator<readonly RecordedEvent[]> {
    for await (const { first, entries } of this.#log.read(after)) {
      for (let from = 0; from < entries.length; from += WATCH.pullEvents) {
        if (from > 0) await endOfTurn();
        const part = entries.slice(from, from + WATCH.pullEvents);
        yield part.map((text, i) => decode(text, first + from + i));
      }
    }
  }

  close(): void {
    for (const watch of this.#watches) watch.close();
  }
}
