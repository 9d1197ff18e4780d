/**
 * Lists in pages that stay right while things come and go. A page begins after a place in the order
 * of the list (a moment, then a key) and not after a count, so that nothing is shown twice or left
 * out because of what changed before it.
 *
 * A page is found in one pass over all, keeping the first few: the state is filed by key, in no
 * order that a page could use, and keeping one for each list would cost every command something.
 */
import type { Context } from "hono";
import { LIST } from "./limits.ts";
import { quoted, wrong } from "./parse.ts";

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

export interface Asked {
  readonly limit: number;
  readonly cursor?: string | undefined;
}

export interface Page<T> {
  readonly items: readonly T[];
  /** How many there are on all pages together. */
  readonly total: number;
  readonly hasMore: boolean;
}

export function* matching<T>(items: Iterable<T>, isWanted: (item: T) => boolean): Generator<T> {
  for (const item of items) if (isWanted(item)) yield item;
}

/** The first of `items` behind the cursor. */
export function pageOf<T>(items: Iterable<T>, order: Order<NoInfer<T>>, asked: Asked): Page<T> {
  const after = asked.cursor === undefined ? undefined : placeOf(asked.cursor);
  const compare = (a: T, b: T) =>
    order.atMs(a) - order.atMs(b) || byText(order.key(a), order.key(b));
  const isShown = (item: T, { atMs, key }: Place) =>
    (order.atMs(item) - atMs || byText(order.key(item), key)) <= 0;
  const most = asked.limit + 1;
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
  return { items: found.slice(0, asked.limit), total, hasMore: found.length > asked.limit };
}

interface Answer<T> {
  readonly name: string;
  readonly sequence: number;
  readonly page: Page<T>;
  readonly order: Order<NoInfer<T>>;
  /** What is said of the whole, beside how many there are. */
  readonly facts?: Readonly<Record<string, unknown>>;
}

export function sendPage<T>(c: Context, answer: Answer<T>): Response {
  return c.body(pageText(answer), 200, { "Content-Type": "application/json" });
}

/** One that weighs too much ends early, and its cursor says where. */
function pageText<T>({ name, sequence, page, order, facts = {} }: Answer<T>): string {
  const texts: string[] = [];
  let length = 0;
  for (const item of page.items) {
    const text = JSON.stringify(item);
    length += text.length;
    if (length > LIST.answerLength && texts.length > 0) break;
    texts.push(text);
  }
  const last = page.items[texts.length - 1];
  const isAll = texts.length === page.items.length && !page.hasMore;
  const cursor = isAll || !last ? "" : `,"cursor":"${cursorOf(order, last)}"`;
  const head = JSON.stringify({ sequence, ...facts, total: page.total }).slice(0, -1);
  return `${head}${cursor},"${name}":[${texts.join(",")}]}`;
}

function byText(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}

function cursorOf<T>(order: Order<T>, item: T): string {
  return encoded({ atMs: order.atMs(item), key: order.key(item) });
}

function encoded({ atMs, key }: Place): string {
  return Buffer.from(`${atMs} ${key}`).toString("base64url");
}

function placeOf(cursor: string): Place {
  const text = cursor.length > LIST.cursorLength ? "" : Buffer.from(cursor, "base64url").toString();
  const [, atMs = "", key = ""] = /^(\d{1,16}(?:\.\d{1,16})?) (.+)$/s.exec(text) ?? [];
  const place = { atMs: Number(atMs), key };
  if (key !== "" && encoded(place) === cursor) return place;
  throw wrong(`cursor is ${quoted(cursor)}, not one that a list gave`);
}
