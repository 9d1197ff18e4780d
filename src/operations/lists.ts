/**
 * The lists of operations, in pages (core/pages.ts). Their order is kept (kept-lists.ts), so a page
 * costs what it shows. No index serves their filters: items are looked at one after the other, some
 * at a time while others are served, and no more than a bound. A page that ends there says so, and
 * the next one goes on from there.
 */
import { setImmediate as othersAreServed } from "node:timers/promises";
import { z } from "zod";
import {
  byPlace,
  cursorAt,
  cursorOf,
  type ListPlace,
  type Order,
  type ItemPage,
  type PageRequest,
  placeIn,
} from "../core/pages.ts";
import type { State } from "../core/state.ts";
import type { Engine } from "../engine/engine.ts";
import { SEQUENCE, text, whole, yesOrNo } from "./fields.ts";
import { listsOf, type KeptList, type KeptLists } from "./kept-lists.ts";
import { LIST } from "./limits.ts";

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

interface PageQuery<Item, Row> {
  readonly engine: Pick<Engine, "observers" | "read">;
  readonly list: (lists: KeptLists) => KeptList<Item>;
  /** In a list by key alone: how wanted keys begin. */
  readonly prefix?: string;
  /** Absent where all are wanted. */
  readonly isWanted?: ((item: Item, state: State) => boolean) | undefined;
  readonly show: (item: Item, state: State) => Row;
}

interface ListPage<Row> extends ItemPage<Row> {
  readonly sequence: number;
  readonly isPartial?: boolean;
}

/** A page of a kept list: all of it, or of those that a filter wants. */
export async function listPage<Item, Row>(
  query: PageQuery<Item, Row>,
  request: PageRequest,
): Promise<ListPage<Row>> {
  const cursor = placeIn(request);
  const list = query.list(listsOf(query.engine));
  await settleLists(query.engine, list);
  const reading = { ...query, list, limit: request.limit };
  return query.isWanted ? filteredPage(reading, cursor) : wholePage(reading, cursor);
}

/** So that what is left to do takes no time that others would notice. */
export async function settleLists(
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

interface ListReading<Item, Row> extends Omit<PageQuery<Item, Row>, "list"> {
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
  const at = list.size > LIST.looked ? cursor : undefined;
  let found: FilterProgress<Row> = { items: [], total: 0, looked: 0, at };
  let first: number | undefined;
  let isOver = false;
  while (!isOver && found.looked < LIST.looked) {
    // A read may look twice, at a state that never was and then at another: it changes nothing.
    const step = await engine.read((state, sequence) => {
      list.update(state);
      return { sequence, ...lookOn(reading, found, { state, cursor }) };
    });
    first ??= step.sequence;
    ({ found, isOver } = step);
    await othersAreServed();
  }
  const { items, total, last, hasMore = false } = found;
  const place = hasMore ? last : isOver ? undefined : found.at;
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

/** Looks at a few more; gives how far it came, and whether those were the last. */
function lookOn<Item, Row>(
  { list, isWanted, show, limit }: ListReading<Item, Row>,
  before: FilterProgress<Row>,
  { state, cursor }: { readonly state: State; readonly cursor: ListPlace | undefined },
): { readonly found: FilterProgress<Row>; readonly isOver: boolean } {
  const found = { ...before, items: [...before.items] };
  const end = found.looked + LIST.atOnce;
  for (const place of list.after(found.at)) {
    if (found.looked >= end) return { found, isOver: false };
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
  return { found, isOver: true };
}

function next(place: ListPlace | undefined): { readonly cursor?: string } {
  return place ? { cursor: cursorAt(place) } : {};
}

export function* matching<T>(items: Iterable<T>, isWanted: (item: T) => boolean): Generator<T> {
  for (const item of items) if (isWanted(item)) yield item;
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
