/**
 * Lists in pages that stay right while things come and go. A page begins after a place in the order
 * of the list (a moment, then a key) and not after a count, so that nothing is shown twice or left
 * out because of what changed before it.
 *
 * The order is kept (kept-lists.ts), so a page costs what it shows. No index serves the filters of
 * these lists: items are looked at one after the other, some at a time while others are served, and
 * no more than a bound. A page that ends there says so, and the next one goes on from there.
 */
import { setImmediate as othersAreServed } from "node:timers/promises";
import { z } from "zod";
import type { State } from "../core/state.ts";
import type { Engine } from "../engine/engine.ts";
import { firstOf } from "../core/sorted-list.ts";
import { SEQUENCE, text, whole, yesOrNo } from "./fields.ts";
import { byPlace, listsOf, type KeptList, type KeptLists, type ListPlace } from "./kept-lists.ts";
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

/** The answer of a list whose filters may have to look at more than there is time for. */
export const FILTERED = {
  ...PAGED,
  isPartial: yesOrNo(
    `The filter looked at ${LIST.looked} items and no further: total counts those of them that ` +
      "fit, and the page may be short; the cursor goes on",
  ).exactOptional(),
} as const;

export interface Order<T> {
  atMs(item: T): number;
  key(item: T): string;
}

/** In order of their keys. */
export function byKey<T>(key: (item: T) => string): Order<T> {
  return { atMs: () => 0, key };
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

interface ListQuery<Item, Row> {
  readonly engine: Pick<Engine, "observers" | "read">;
  readonly list: (lists: KeptLists) => KeptList<Item>;
  /** In a list by key alone: how wanted keys begin. */
  readonly prefix?: string;
  /** Absent where all are wanted. */
  readonly isWanted?: ((item: Item, state: State) => boolean) | undefined;
  readonly show: (item: Item, state: State) => Row;
}

interface ListPage<Row> extends Page<Row> {
  readonly sequence: number;
  readonly isPartial?: boolean;
}

/** A page of a kept list: all of it, or of those that a filter wants. */
export async function listPage<Item, Row>(
  query: ListQuery<Item, Row>,
  request: PageRequest,
): Promise<ListPage<Row>> {
  const cursor = placeIn(request);
  const list = query.list(listsOf(query.engine));
  await settle(query.engine, list);
  const reading = { ...query, list, limit: request.limit };
  return query.isWanted ? filteredPage(reading, cursor) : wholePage(reading, cursor);
}

/** So that what is left to do takes no time that others would notice. */
export async function settle(
  engine: Pick<Engine, "read">,
  ...lists: readonly Pick<KeptList<unknown>, "waiting" | "update">[]
): Promise<void> {
  for (const list of lists) {
    while (list.waiting > LIST.atOnce) {
      await engine.read((state) => list.update(state, LIST.atOnce));
      await othersAreServed();
    }
  }
}

interface ListReading<Item, Row> extends Omit<ListQuery<Item, Row>, "list"> {
  readonly list: KeptList<Item>;
  readonly limit: number;
}

function wholePage<Item, Row>(
  { engine, list, prefix = "", show, limit }: ListReading<Item, Row>,
  cursor: ListPlace | undefined,
): Promise<ListPage<Row>> {
  return engine.read((state, sequence) => {
    list.update(state);
    const total = prefix === "" ? list.size : list.count(prefix);
    const items: Row[] = [];
    let last: ListPlace | undefined;
    for (const place of list.after(cursor, prefix)) {
      if (items.length >= limit) return { sequence, items, total, ...next(last) };
      const item = list.item(state, place);
      if (item !== undefined) items.push(show(item, state));
      last = place;
    }
    return { sequence, items, total };
  });
}

/** Of a list that is short enough from its beginning, so that the total is that of all pages. */
async function filteredPage<Item, Row>(
  reading: ListReading<Item, Row>,
  cursor: ListPlace | undefined,
): Promise<ListPage<Row>> {
  const { engine, list } = reading;
  const isLong = list.size > LIST.looked;
  const found: FilterProgress<Row> = {
    items: [],
    total: 0,
    looked: 0,
    at: isLong ? cursor : undefined,
  };
  let first: number | undefined;
  let isOver = false;
  while (!isOver && found.looked < LIST.looked) {
    isOver = await engine.read((state, sequence) => {
      first ??= sequence;
      list.update(state);
      return lookOn(reading, found, { state, cursor });
    });
    await othersAreServed();
  }
  const { items, total, last, at, hasMore = false } = found;
  const place = hasMore ? last : isOver ? undefined : at;
  const facts = { sequence: first ?? 0, items, total, ...next(place) };
  return isOver ? facts : { ...facts, isPartial: true };
}

/** As far as a filter has come. */
interface FilterProgress<Row> {
  readonly items: Row[];
  total: number;
  looked: number;
  /** The last place that it looked at; the last that is shown; whether more of them fit. */
  at: ListPlace | undefined;
  last?: ListPlace;
  hasMore?: boolean;
}

/** Looks at a few more; whether those were the last. */
function lookOn<Item, Row>(
  { list, isWanted, show, limit }: ListReading<Item, Row>,
  found: FilterProgress<Row>,
  { state, cursor }: { readonly state: State; readonly cursor: ListPlace | undefined },
): boolean {
  const end = found.looked + LIST.atOnce;
  for (const place of list.after(found.at)) {
    if (found.looked >= end) return false;
    found.looked += 1;
    found.at = place;
    const item = list.item(state, place);
    if (item === undefined || isWanted?.(item, state) === false) continue;
    found.total += 1;
    if (cursor && byPlace(place, cursor) <= 0) continue;
    found.hasMore = found.items.length >= limit;
    if (found.hasMore) continue;
    found.items.push(show(item, state));
    found.last = place;
  }
  return true;
}

function next(place: ListPlace | undefined): { readonly cursor?: string } {
  return place ? { cursor: encoded(place) } : {};
}

export function* matching<T>(items: Iterable<T>, isWanted: (item: T) => boolean): Generator<T> {
  for (const item of items) if (isWanted(item)) yield item;
}

/** The same of items that stand in order: a page costs what it shows. */
export function sortedPage<T>(
  items: readonly T[],
  order: Order<NoInfer<T>>,
  { limit, cursor }: PageRequest,
): Page<T> {
  const after = placeIn({ cursor });
  const isShown = (item: T, { atMs, key }: ListPlace) =>
    (order.atMs(item) - atMs || byText(order.key(item), key)) <= 0;
  const from = after ? firstOf(items, (item) => !isShown(item, after)) : 0;
  const shown = items.slice(from, from + limit);
  const last = from + limit < items.length ? shown.at(-1) : undefined;
  return { items: shown, total: items.length, ...(last && { cursor: cursorOf(order, last) }) };
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
  const isShown = (item: T, { atMs, key }: ListPlace) =>
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

function encoded({ atMs, key }: ListPlace): string {
  return Buffer.from(`${atMs} ${key}`).toString("base64url");
}

/** The place behind which a page begins; nothing for the first one. */
export function placeIn({ cursor }: Pick<PageRequest, "cursor">): ListPlace | undefined {
  return cursor === undefined ? undefined : placeOf(cursor);
}

function placeOf(cursor: string): ListPlace {
  const place =
    cursor.length > LIST.cursorLength ? "" : Buffer.from(cursor, "base64url").toString();
  const [, atMs = "", key = ""] = /^(\d{1,16}(?:\.\d{1,16})?) (.+)$/s.exec(place) ?? [];
  const found = { atMs: Number(atMs), key };
  if (key !== "" && encoded(found) === cursor) return found;
  throw wrong(`cursor is ${quoted(cursor)}, not one that a list gave`);
}
