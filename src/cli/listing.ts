/**
 * A list as a table for people, as JSON for programs, or live. What a noun has of its own (its
 * columns, its filters, its topics) is a `Listing`; the rest is the same for all and is here.
 */
import { invalidArgument } from "../core/errors.ts";
import { shortId } from "../core/words.ts";
import type { OperationName } from "../operations/table.ts";
import type { Client } from "../wires/api/client/client.ts";
import type { ConnectionState } from "../wires/api/client/events.ts";
import { apiOperation, lookUp, type QueryValue } from "./api.ts";
import type { ListDisplay } from "./list-views.ts";
import { lookOf, note, noteMoment, printJson } from "./print.ts";
import { tableLines, type Cell, type Column, type Look } from "./terminal/table.ts";

/**
 * How long a list is good for that no screen shows. No event tells that an agent hangs, nor a file
 * that its process was killed.
 */
export const UNSEEN_FRESH_MS = 5_000;

/** How a list is shown. */
export interface ListLook<Item, Answer extends object = object> {
  /** The word for its items, in the plural. */
  readonly noun: string;
  readonly columns: readonly ListColumn<Item>[];
  /** Lines that nest below an item. */
  below?(item: Item, view: View): readonly (readonly Cell[])[];
  /** Names one item among all. */
  key(item: Item): string;
  /** The text for an empty list. */
  readonly nothing: string;
  /** All of it in a few words, where there is more to say than how many. */
  summary?(answer: Answer): string;
}

/** The list of a daemon, without the page. */
export interface ListQuery {
  readonly operation: OperationName;
  readonly input: Readonly<Record<string, QueryValue>>;
}

/** A list that a daemon has, and how it is shown. */
export interface ListSpec<Item> extends ListLook<Item>, ListQuery {
  /** Beginnings of the topics that may change it. */
  readonly topics: readonly string[];
}

/** Where a list comes from, and what tells that it may have changed. */
export interface ListSource<Item, Answer extends object = object> {
  /** As people know it: the URL of a daemon, a folder. */
  readonly place: string;
  fetch(options: ListFetch): Promise<ListedPage<Item, Answer>>;
  /** Yields whenever it may be another list by now, until the signal aborts. */
  changes(options: ListChanges): AsyncIterable<unknown>;
}

export interface ListFetch {
  readonly limit: number;
  readonly signal?: AbortSignal;
}

export interface ListChanges {
  /** Of the list that is known. */
  readonly from: number;
  readonly signal: AbortSignal;
  readonly onState: (state: ConnectionState) => void;
}

export interface ListColumn<Item> extends Column {
  readonly cell: (item: Item, view: View) => Cell;
}

/** The context of a cell, beside its item. */
export interface View {
  readonly nowMs: number;
  /** A generated id: as much of it as the reader needs. */
  readonly id: (id: string) => string;
}

/** All pages that were asked for, as one; otherwise just what the API answers. */
export interface ListedPage<Item, Answer extends object = object> {
  readonly sequence: number;
  readonly total: number;
  readonly cursor?: string;
  readonly items: readonly Item[];
  /** When it was so, by the daemon's clock, where that is told. */
  readonly atMs?: number;
  /** As the API gave it. */
  readonly answer: Answer;
}

export async function showList<Item, Answer extends object>(
  watching: ListDisplay<Item, Answer>,
): Promise<void> {
  const { context, source, look, flags } = watching;
  if (flags.at !== undefined && flags.watch === true) {
    throw invalidArgument("--at and --watch exclude each other");
  }
  await noteMoment(context, flags.at);
  if (flags.watch === true) {
    const { watchList } = await import("./watching.ts");
    return watchList(watching);
  }
  const listed = await source.fetch(flags);
  if (flags.json === true) return printJson(context, listed.answer);
  if (listed.items.length === 0) return note(context, look.nothing);
  const isWhole = !context.out.isTerminal;
  const lines = tableRows(look, listed, { look: lookOf(context), isWhole });
  await context.out.line(lines.join("\n"));
  const more = listed.total - listed.items.length;
  if (more > 0) await note(context, `${more} more: --limit says how many are shown`);
}

export function daemonList<Item>(
  daemon: Pick<Client, "url" | "get" | "events">,
  { operation, input, topics }: ListSpec<Item>,
): ListSource<Item> {
  return {
    place: daemon.url,
    fetch: (options) => fetchPages(daemon, { operation, input }, options),
    changes: (options) => daemon.events({ topics, ...options }),
  };
}

/** The largest page the daemon gives. */
const PAGE = 1_000;

export async function fetchPages<Item, Answer extends object>(
  daemon: Pick<Client, "get">,
  { operation, input }: ListQuery,
  { limit, signal }: ListFetch,
): Promise<ListedPage<Item, Answer>> {
  type Page = Omit<ListedPage<Item>, "items" | "answer"> & Record<string, unknown>;
  const { rows: field } = apiOperation(operation);
  const items: Item[] = [];
  let first: Page | undefined;
  let cursor: string | undefined;
  do {
    const wanted = Math.min(PAGE, limit - items.length);
    const query = { ...input, limit: wanted, cursor };
    // Which list it is, only the caller knows.
    const request = { input: query as never, ...(signal && { signal }) };
    const page = (await lookUp(daemon, operation, request)) as unknown as Page;
    first ??= page;
    items.push(...(page[field] as readonly Item[]));
    cursor = page.cursor;
  } while (cursor !== undefined && items.length < limit);
  const { cursor: _, [field]: __, sequence, total, ...facts } = first;
  const place = { sequence, ...facts, total, ...(cursor !== undefined && { cursor }) };
  const answer: object = { ...place, [field]: items };
  return { ...place, items, answer: answer as Answer };
}

export interface RowsLook {
  readonly look: Look;
  /** Ids in full: in a pipe there is no width to fit. */
  readonly isWhole: boolean;
}

/** The heading and the lines of each item. */
export function tableRows<Item>(
  how: Pick<ListLook<Item>, "columns" | "below" | "key">,
  listed: Pick<ListedPage<Item>, "items" | "atMs">,
  look: RowsLook,
): string[] {
  const { heading, items } = drawnList(how, listed, look);
  return [heading, ...items.flat()];
}

interface DrawnList {
  readonly heading: string;
  /** Of each item its line, then those that nest below it. */
  readonly items: readonly (readonly string[])[];
}

export function drawnList<Item>(
  { columns, below, key }: Pick<ListLook<Item>, "columns" | "below" | "key">,
  { items, atMs }: Pick<ListedPage<Item>, "items" | "atMs">,
  { look, isWhole }: RowsLook,
): DrawnList {
  const length = enough(items.map((item) => key(item)));
  const id = (each: string) => (isWhole || shortId(each) === each ? each : each.slice(0, length));
  const view: View = { nowMs: atMs ?? Date.now(), id };
  const cells = items.map((item) => [
    columns.map(({ cell }) => cell(item, view)),
    ...(below?.(item, view) ?? []),
  ]);
  const [heading = "", ...lines] = tableLines(columns, cells.flat(), look);
  let end = 0;
  return { heading, items: cells.map((each) => lines.slice(end, (end += each.length))) };
}

/** How much of generated ids tells them apart; eight characters nearly always. */
function enough(keys: readonly string[]): number {
  const ids = keys.filter((key) => shortId(key) !== key);
  let length = 8;
  while (length < 32 && new Set(ids.map((id) => id.slice(0, length))).size < ids.length)
    length += 1;
  return length;
}
