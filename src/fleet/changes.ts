/**
 * The fleet as it changes, for those who look on: all rows, a few hundred at a time, then those
 * that are new or different, or gone. A subscriber is a set of rows that it has yet to hear of, so
 * that one that changes ten times before it is sent is sent once.
 *
 *   ──▶ whole ──▶ more … ──▶ change ──▶ change …      the state was rebuilt: whole, again
 *
 * A subscriber that comes back with the sequence of the last complete change it had is told what
 * changed since; where that is no longer known, it is told everything anew.
 */
import type { Clock } from "../core/clock.ts";
import { othersAreServed } from "../machine/slices.ts";
import type { Counts } from "./census.ts";
import { ANY, type FleetFilters } from "./filters.ts";
import type { RowPlace } from "./headline.ts";
import type { Row } from "./row.ts";
import type { FleetView, KeptRow } from "./view.ts";

export interface FleetChange {
  /** `whole`: all that was told before counts no more; `more` of the rows to begin with. */
  readonly kind: "whole" | "more" | "change";
  /** New rows and changed ones; at first those that the subscriber wants. */
  readonly rows: readonly Row[];
  /** The ids of rows that are no more. */
  readonly gone: readonly string[];
  /** Of all agents, also of those that the subscriber does not want. */
  readonly counts: Counts;
  readonly sequence: number;
  readonly atMs: number;
  /** Everything up to the sequence was told: here one can go on later. */
  readonly isComplete: boolean;
}

export interface FleetFollowOptions {
  readonly signal?: AbortSignal | undefined;
  /** The rows to begin with: all that are not folded away, unless others are named. */
  readonly first?: FleetFilters | undefined;
  /** The id of the one row that is wanted, of all that are. */
  readonly only?: string | undefined;
  /** The sequence of the last complete change that the subscriber had. */
  readonly from?: number | undefined;
}

/** One look at the rows, up to date. */
export interface FleetLook {
  readonly view: FleetView;
  readonly sequence: number;
  readonly atMs: number;
  readonly row: (kept: KeptRow) => Row;
}

export interface FleetChangesOptions {
  readonly clock: Clock;
  look<T>(select: (look: FleetLook) => T): Promise<T>;
}

/** People see no difference below this. */
const SOON_MS = 100;
/** Changes by time alone take minutes. */
const SELDOM_MS = 5_000;
/** Rows of one change: some milliseconds of work. */
const ROWS = 250;
/** Rows that are no more, remembered for those who come back. */
const GONE = 1_000;

/** Where more changed since, all is told anew: that is done page by page. */
const RESUMED = 10_000;

interface FleetSubscriber {
  /** The rows to begin with. */
  readonly first: FleetFilters;
  readonly only: string | undefined;
  /** How much of the first rows it got: none that counts, some, or all. */
  told: "nothing" | "some" | "all";
  /** The last of the first rows that it was told of. */
  after: RowPlace | undefined;
  /** Rows that it has yet to hear of. */
  readonly ids: Set<string>;
  wake: () => void;
}

export class FleetChanges {
  readonly #options: FleetChangesOptions;
  readonly #subscribers = new Set<FleetSubscriber>();
  /** The last rows that are no more, the first first. */
  readonly #gone: { readonly id: string; readonly sequence: number }[] = [];
  /** All changes after this sequence are known. */
  #knownFrom = Infinity;
  #stopTimer: (() => void) | undefined;
  #isSoon = false;
  #isClosed = false;

  constructor(options: FleetChangesOptions) {
    this.#options = options;
  }

  get isFollowed(): boolean {
    return this.#subscribers.size > 0;
  }

  /** Another state took the place of the one before. */
  begin(): void {
    this.#gone.length = 0;
    this.#knownFrom = Infinity;
    for (const subscriber of this.#subscribers) {
      subscriber.told = "nothing";
      subscriber.wake();
    }
  }

  /** A row was made; nothing for one that is no more. */
  made(kept: KeptRow, row: Row | undefined): void {
    if (this.#knownFrom === Infinity) this.#knownFrom = kept.sequence;
    if (!row) this.#remember(kept);
    const digest = row && this.#subscribers.size > 0 ? digestOf(row) : 0;
    const isNews = digest === 0 || digest !== kept.digest;
    kept.digest = digest;
    if (!isNews) return;
    for (const { ids, only = kept.id } of this.#subscribers) if (only === kept.id) ids.add(only);
  }

  /** Something was touched: subscribers hear of it soon. */
  touched(): void {
    if (this.#isSoon || this.#subscribers.size === 0) return;
    this.#isSoon = true;
    this.#lookIn(SOON_MS);
  }

  async *follow(options: FleetFollowOptions): AsyncGenerator<FleetChange, void, undefined> {
    const { signal, from } = options;
    const isOver = () => this.#isClosed || signal?.aborted === true;
    const subscriber = newSubscriber(options);
    const onAbort = () => subscriber.wake();
    signal?.addEventListener("abort", onAbort);
    this.#subscribers.add(subscriber);
    if (!this.#stopTimer) this.#lookIn(SELDOM_MS);
    try {
      if (from !== undefined) await this.#resume(subscriber, from);
      while (!isOver()) {
        const change = await this.#next(subscriber);
        if (isOver()) return;
        if (change) {
          yield change;
          // A subscriber that takes page after page at once must not keep others waiting.
          if (!change.isComplete) await othersAreServed();
        } else await new Promise<void>((woken) => (subscriber.wake = woken));
      }
    } finally {
      signal?.removeEventListener("abort", onAbort);
      this.#subscribers.delete(subscriber);
      if (this.#subscribers.size === 0) this.#rest();
    }
  }

  close(): void {
    this.#isClosed = true;
    this.#rest();
    for (const { wake } of this.#subscribers) wake();
  }

  /** Where all that changed since is known, the subscriber hears of that alone. */
  async #resume(subscriber: FleetSubscriber, from: number): Promise<void> {
    await this.#options.look(({ view, sequence: now }) => {
      // One ahead is of another log: of one that was lost, and begun anew or restored.
      if (from < this.#knownFrom || from > now) return;
      for (const { id, sequence } of view.made) {
        if (sequence <= from) break;
        subscriber.ids.add(id);
        if (subscriber.ids.size > RESUMED) return;
      }
      for (const { id, sequence } of this.#gone) if (sequence > from) subscriber.ids.add(id);
      subscriber.told = "all";
    });
  }

  /** The next change for a subscriber; nothing while there is none, or no leader. */
  async #next(subscriber: FleetSubscriber): Promise<FleetChange | undefined> {
    if (subscriber.told === "all" && subscriber.ids.size === 0) return undefined;
    try {
      return await this.#options.look((look) =>
        subscriber.told === "all" ? changeOf(subscriber, look) : firstOf(subscriber, look),
      );
    } catch {
      subscriber.told = "nothing";
      return undefined;
    }
  }

  #remember({ id, sequence }: KeptRow): void {
    this.#gone.push({ id, sequence });
    if (this.#gone.length <= GONE) return;
    const [oldest] = this.#gone.splice(0, this.#gone.length - GONE);
    this.#knownFrom = Math.max(this.#knownFrom, (oldest?.sequence ?? 0) + 1);
  }

  #lookIn(delayMs: number): void {
    this.#stopTimer?.();
    if (this.#isClosed) return;
    this.#stopTimer = this.#options.clock.after(delayMs, () => void this.#lookNow());
  }

  /** Without a leader just now the last rows stand until there is one. */
  async #lookNow(): Promise<void> {
    this.#isSoon = false;
    await this.#options.look(() => undefined).catch(() => undefined);
    for (const { wake } of this.#subscribers) wake();
    if (this.#subscribers.size > 0 && !this.#isTouched()) this.#lookIn(SELDOM_MS);
  }

  // A method: the compiler would take a property for unchanged across an await.
  #isTouched(): boolean {
    return this.#isSoon;
  }

  #rest(): void {
    this.#stopTimer?.();
    this.#stopTimer = undefined;
    this.#isSoon = false;
  }
}

function newSubscriber({ first = ANY, only }: FleetFollowOptions): FleetSubscriber {
  const ids = new Set<string>();
  return { first, only, told: "nothing", after: undefined, ids, wake: () => undefined };
}

function firstOf(
  subscriber: FleetSubscriber,
  { view, sequence, atMs, row }: FleetLook,
): FleetChange {
  const isAnew = subscriber.told === "nothing";
  if (isAnew) subscriber.ids.clear();
  const { items, next } = firstRows(subscriber, view, isAnew ? undefined : subscriber.after);
  subscriber.after = next && { place: next.place, id: next.id };
  subscriber.told = next ? "some" : "all";
  return {
    kind: isAnew ? "whole" : "more",
    rows: items.map((each) => row(each)),
    gone: [],
    counts: view.indexes.counts,
    sequence,
    atMs,
    isComplete: !next && subscriber.ids.size === 0,
  };
}

function firstRows({ first, only }: FleetSubscriber, view: FleetView, after: RowPlace | undefined) {
  if (only === undefined) return view.indexes.page(first, { limit: ROWS, after });
  const kept = view.kept(only);
  return { items: kept ? [kept] : [], next: undefined };
}

function changeOf({ ids }: FleetSubscriber, { view, sequence, atMs, row }: FleetLook): FleetChange {
  const rows: Row[] = [];
  const gone: string[] = [];
  for (const id of ids) {
    if (rows.length + gone.length >= ROWS) break;
    ids.delete(id);
    const kept = view.kept(id);
    if (kept) rows.push(row(kept));
    else gone.push(id);
  }
  const { counts } = view.indexes;
  return { kind: "change", rows, gone, counts, sequence, atMs, isComplete: ids.size === 0 };
}

/** Of the row without its soft fields: one more heartbeat is no news. Never 0. */
function digestOf(row: Row): number {
  const text = JSON.stringify(row).replaceAll(SOFT, "");
  let digest = 0x811c9dc5;
  for (let i = 0; i < text.length; i += 1) {
    digest = Math.imul(digest ^ text.charCodeAt(i), 0x01000193);
  }
  return digest >>> 0 || 1;
}

/** A quote inside of a text has a backslash before it, so that no text can look like this. */
const SOFT = /"(?:reportedAtMs|order)":\d+/g;
