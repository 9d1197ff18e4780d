/**
 * Pages of lists that stay right while things come and go: a page begins behind a place in the
 * order of the list (a moment, then a key) and not behind a count. A cursor is such a place, as
 * text.
 */
import { invalidArgument } from "./errors.ts";
import { firstOf } from "./sorted-list.ts";
import { byText } from "./text.ts";

const CURSOR = {
  /** A moment and a key of at most 1,024 characters, three bytes each, as base64. */
  length: 4_200,
  /** Of one that is refused. */
  shown: 60,
} as const;

/** Where an item stands: by a moment, which is 0 in lists by key alone, then by its key. */
export interface ListPlace {
  readonly atMs: number;
  readonly key: string;
}

export function byPlace(a: ListPlace, b: ListPlace): number {
  return a.atMs - b.atMs || byText(a.key, b.key);
}

export interface Order<T> {
  atMs(item: T): number;
  key(item: T): string;
}

/** In order of their keys. */
export function byKey<T>(key: (item: T) => string): Order<T> {
  return { atMs: () => 0, key };
}

export interface PageRequest {
  readonly limit: number;
  readonly cursor?: string | undefined;
}

export interface ItemPage<T> {
  readonly items: readonly T[];
  /** How many there are on all pages together. */
  readonly total: number;
  /** Where the next page begins; absent on the last one. */
  readonly cursor?: string;
}

/** How an item stands to a place: negative before it, 0 at it. */
export function against<T>(order: Order<T>, item: T, { atMs, key }: ListPlace): number {
  return order.atMs(item) - atMs || byText(order.key(item), key);
}

/** A page of items that stand in order: it costs what it shows. */
export function sortedPage<T>(
  items: readonly T[],
  order: Order<NoInfer<T>>,
  { limit, cursor }: PageRequest,
): ItemPage<T> {
  const after = placeIn({ cursor });
  const from = after ? firstOf(items, (item) => against(order, item, after) > 0) : 0;
  const shown = items.slice(from, from + limit);
  const last = from + limit < items.length ? shown.at(-1) : undefined;
  return { items: shown, total: items.length, ...(last && { cursor: cursorOf(order, last) }) };
}

/** The first of `items` behind the cursor. */
export function pageOf<T>(
  items: Iterable<T>,
  order: Order<NoInfer<T>>,
  wanted: PageRequest,
): ItemPage<T> {
  const after = placeIn(wanted);
  const compare = (a: T, b: T) =>
    order.atMs(a) - order.atMs(b) || byText(order.key(a), order.key(b));
  const most = wanted.limit + 1;
  let first: T[] = [];
  let last: T | undefined;
  let total = 0;
  for (const item of items) {
    total += 1;
    if (after && against(order, item, after) <= 0) continue;
    if (last !== undefined && compare(item, last) > 0) continue;
    first.push(item);
    // Sorted only when there are far too many: nearly every item then costs one comparison.
    if (first.length >= 4 * most) {
      first = first.toSorted(compare).slice(0, most);
      last = first.at(-1);
    }
  }
  const found = first.toSorted(compare);
  const shown = found.slice(0, wanted.limit);
  const end = found.length > shown.length ? shown.at(-1) : undefined;
  return { items: shown, total, ...(end !== undefined && { cursor: cursorOf(order, end) }) };
}

export function cursorOf<T>(order: Order<T>, item: T): string {
  return cursorAt({ atMs: order.atMs(item), key: order.key(item) });
}

export function cursorAt({ atMs, key }: ListPlace): string {
  return Buffer.from(`${atMs} ${key}`).toString("base64url");
}

/** The place behind which a page begins; nothing for the first one. */
export function placeIn({ cursor }: Pick<PageRequest, "cursor">): ListPlace | undefined {
  return cursor === undefined ? undefined : placeOf(cursor);
}

function placeOf(cursor: string): ListPlace {
  const place = cursor.length > CURSOR.length ? "" : Buffer.from(cursor, "base64url").toString();
  const [, atMs = "", key = ""] = /^(\d{1,16}(?:\.\d{1,16})?) (.+)$/s.exec(place) ?? [];
  const found = { atMs: Number(atMs), key };
  if (key !== "" && cursorAt(found) === cursor) return found;
  const given = JSON.stringify(cursor.slice(0, CURSOR.shown));
  throw invalidArgument(
    `cursor is ${given}: it is from no earlier page; leave it out to begin anew`,
  );
}
