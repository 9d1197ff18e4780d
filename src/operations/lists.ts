/**
 * Lists in pages that stay right while things come and go. A page begins after a place in the order
 * of the list (a moment, then a key) and not after a count, so that nothing is shown twice or left
 * out because of what changed before it.
 *
 * A page is found in one pass over all, keeping the first few: the state is filed by key, in no
 * order that a page could use, and keeping one for each list would cost every command something.
 */
import { z } from "zod";
import { SEQUENCE, text, whole } from "./fields.ts";
import { LIST } from "./limits.ts";
import { quoted, wrong } from "./parse.ts";

/** The fields of every list, before its own filters. */
export const PAGE = {
  limit: z.int().min(1).max(LIST.limitMost).default(LIST.limitDefault).describe("How many at most"),
  cursor: text("Where the page begins: the cursor of the page before it").optional(),
} as const;

/** The answer of every list, before its rows. */
export const PAGED = {
  sequence: SEQUENCE,
  total: whole("How many fit, on all pages together", 1),
  cursor: text("Where the next page begins; absent on the last one").exactOptional(),
} as const;

interface Place {
  /** 0 in lists that are in order of their keys alone. */
  readonly atMs: number;
  readonly key: string;
}

export interface Order<T> {
  atMs(item: T): number;
  key(item: T): string;
}

/** In order of their keys. */
export function byKey<T>(key: (item: T) => string): Order<T> {
  return { atMs: () => 0, key };
}

/** The same order, of what holds such items. */
export function within<T, Item>(order: Order<Item>, of: (holder: T) => Item): Order<T> {
  return { atMs: (holder) => order.atMs(of(holder)), key: (holder) => order.key(of(holder)) };
}

interface PageRequest {
  readonly limit: number;
  readonly cursor?: string | undefined;
}

interface Page<T> {
  readonly items: readonly T[];
  /** How many there are on all pages together. */
  readonly total: number;
  /** Where the next page begins; absent on the last one. */
  readonly cursor?: string;
}

export function* matching<T>(items: Iterable<T>, isWanted: (item: T) => boolean): Generator<T> {
  for (const item of items) if (isWanted(item)) yield item;
}

/** The first of `items` behind the cursor. */
export function pageOf<T>(
  items: Iterable<T>,
  order: Order<NoInfer<T>>,
  wanted: PageRequest,
): Page<T> {
  const after = placeIn(wanted);
  const compare = (a: T, b: T) =>
    order.atMs(a) - order.atMs(b) || byText(order.key(a), order.key(b));
  const isShown = (item: T, { atMs, key }: Place) =>
    (order.atMs(item) - atMs || byText(order.key(item), key)) <= 0;
  const most = wanted.limit + 1;
  let first: T[] = [];
  let last: T | undefined;
  let total = 0;
  for (const item of items) {
    total += 1;
    if (after && isShown(item, after)) continue;
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

type ListAnswer<Noun extends string, Row> = { readonly [Key in Noun]: readonly Row[] } & {
  readonly cursor?: string;
};

/** Writes a list as JSON: one that weighs too much ends early, and its cursor says where. */
export function listJson<Noun extends string, Row, Facts = unknown>(
  noun: Noun,
  given: Order<Row> | ((answer: Facts) => Order<Row>),
) {
  return (answer: ListAnswer<Noun, Row> & Facts): string => {
    const order = typeof given === "function" ? given(answer) : given;
    const { [noun]: _, cursor, ...facts } = answer;
    const rows: readonly Row[] = answer[noun];
    const texts: string[] = [];
    let length = 0;
    for (const row of rows) {
      const json = JSON.stringify(row);
      length += json.length;
      if (length > LIST.answerLength && texts.length > 0) break;
      texts.push(json);
    }
    const last = rows[texts.length - 1];
    const isCut = texts.length < rows.length && last !== undefined;
    const head = JSON.stringify({ ...facts, cursor: isCut ? cursorOf(order, last) : cursor });
    return `${head.slice(0, -1)},"${noun}":[${texts.join(",")}]}`;
  };
}

function byText(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}

export function cursorOf<T>(order: Order<T>, item: T): string {
  return encoded({ atMs: order.atMs(item), key: order.key(item) });
}

function encoded({ atMs, key }: Place): string {
  return Buffer.from(`${atMs} ${key}`).toString("base64url");
}

/** The place behind which a page begins; nothing for the first one. */
export function placeIn({ cursor }: Pick<PageRequest, "cursor">): Place | undefined {
  return cursor === undefined ? undefined : placeOf(cursor);
}

function placeOf(cursor: string): Place {
  const place =
    cursor.length > LIST.cursorLength ? "" : Buffer.from(cursor, "base64url").toString();
  const [, atMs = "", key = ""] = /^(\d{1,16}(?:\.\d{1,16})?) (.+)$/s.exec(place) ?? [];
  const found = { atMs: Number(atMs), key };
  if (key !== "" && encoded(found) === cursor) return found;
  throw wrong(`cursor is ${quoted(cursor)}, not one that a list gave`);
}
