/**
 * A list as a table for people, as JSON for programs, or live. What a noun has of its own (its
 * columns, its filters, its topics) is a `Listing`; the rest is the same for all and is here.
 */
import type { Client } from "../wires/api/client/client.ts";
import type { ConnectionState } from "../wires/api/client/events.ts";
import { shortId } from "../core/words.ts";
import type { Context } from "./context.ts";
import { daemonOf, lookOf, note, pathOf, printJson, read } from "./daemon.ts";
import type { ListFlags } from "./flags.ts";
import type { Watching } from "./list-views.ts";
import { tableLines, type Cell, type Column, type Look } from "./terminal/table.ts";

/** How a list is shown. */
export interface ListLook<Item, Answer extends object = object> {
  readonly noun: string;
  readonly columns: readonly Column[];
  cells(item: Item, view: View): readonly Cell[];
  /** Lines that nest below an item. */
  below?(item: Item, view: View): readonly (readonly Cell[])[];
  /** Names one item among all. */
  key(item: Item): string;
  /** What is said when there is nothing. */
  readonly nothing: string;
  /** All of it in a few words, where there is more to say than how many. */
  summary?(answer: Answer): string;
}

/** A list that a daemon has, and how it is shown. */
export interface Listing<Item> extends ListLook<Item> {
  /** As in the path and in the answer, unless `source` says otherwise. */
  readonly noun:
    | "agents"
    | "leases"
    | "elections"
    | "policies"
    | "tasks"
    | "questions"
    | "directory";
  readonly source?: { readonly path: string; readonly field: string };
  readonly params: Params;
  /** Beginnings of the topics that may change it. */
  readonly topics: readonly string[];
}

type Params = Readonly<Record<string, string | readonly string[] | undefined>>;

/** Where a list comes from, and what tells that it may have changed. */
export interface ListSource<Item, Answer extends object = object> {
  /** As people know it: the URL of a daemon, a folder. */
  readonly place: string;
  fetch(options: FetchOptions): Promise<Listed<Item, Answer>>;
  /** Yields whenever it may be another list by now, until the signal aborts. */
  changes(options: ChangesOptions): AsyncIterable<unknown>;
}

export interface FetchOptions {
  readonly limit: number;
  readonly signal?: AbortSignal;
}

export interface ChangesOptions {
  /** Of the list that is known. */
  readonly from: number;
  readonly signal: AbortSignal;
  readonly onState: (state: ConnectionState) => void;
}

/** What cells need to know beside their item. */
export interface View {
  readonly nowMs: number;
  /** A generated id: as much of it as the reader needs. */
  readonly id: (id: string) => string;
}

/** All pages that were asked for, as one; otherwise just what the API answers. */
export interface Listed<Item, Answer extends object = object> {
  readonly sequence: number;
  readonly total: number;
  readonly cursor?: string;
  readonly items: readonly Item[];
  /** When it was so, by the daemon's clock, where that is told. */
  readonly atMs?: number;
  /** As the API gave it. */
  readonly answer: Answer;
}

export async function list<Item>(
  context: Context,
  flags: ListFlags,
  prepare: (daemon: Client) => Listing<Item> | Promise<Listing<Item>>,
): Promise<void> {
  await using daemon = daemonOf(context, flags);
  const listing = await prepare(daemon);
  await showList({ context, source: daemonList(daemon, listing), flags, look: listing });
}

export async function showList<Item, Answer extends object>(
  watching: Watching<Item, Answer>,
): Promise<void> {
  const { context, source, look, flags } = watching;
  if (flags.watch === true) {
    const { watchList } = await import("./watching.ts");
    return watchList(watching);
  }
  const listed = await source.fetch(flags);
  if (flags.json === true) return printJson(context, listed.answer);
  if (listed.items.length === 0) return note(context, look.nothing);
  const isWhole = !context.out.isTerminal;
  const lines = rowsOf(look, listed, { look: lookOf(context), isWhole });
  for (const line of lines) await context.out.line(line);
  const more = listed.total - listed.items.length;
  if (more > 0) await note(context, `${more} more: --limit says how many are shown`);
}

export function daemonList<Item>(
  daemon: Pick<Client, "url" | "get" | "events">,
  { noun, source, params, topics }: Listing<Item>,
): ListSource<Item> {
  const { path, field } = source ?? { path: `/v1/${noun}`, field: noun };
  return {
    place: daemon.url,
    fetch: (options) => fetchPages(daemon, { path, field, params }, options),
    changes: (options) => daemon.events({ topics, ...options }),
  };
}

/** The largest page the daemon gives. */
const PAGE = 1_000;

export interface PagesQuery {
  readonly path: string;
  /** Where the items are in the answer. */
  readonly field: string;
  readonly params: Params;
}

/** The daemon is ours: what it answers has the shape that wires/api/answers.ts promises. */
export async function fetchPages<Item, Answer extends object>(
  daemon: Pick<Client, "get">,
  { path, field, params }: PagesQuery,
  { limit, signal }: FetchOptions,
): Promise<Listed<Item, Answer>> {
  type Page = Omit<Listed<Item>, "items" | "answer"> & Record<string, unknown>;
  const items: Item[] = [];
  let first: Page | undefined;
  let cursor: string | undefined;
  do {
    const wanted = Math.min(PAGE, limit - items.length);
    const query = { ...params, limit: wanted, cursor };
    const page: Page = await read(daemon, pathOf(path, query), signal);
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
  /** Ids in full: for pipes, where nobody has to fit them in. */
  readonly isWhole: boolean;
}

/** The heading and a line for each item. */
export function rowsOf<Item>(
  { columns, cells, below, key }: Pick<ListLook<Item>, "columns" | "cells" | "below" | "key">,
  { items, atMs }: Pick<Listed<Item>, "items" | "atMs">,
  { look, isWhole }: RowsLook,
): string[] {
  const length = enough(items.map((item) => key(item)));
  const id = (each: string) => (isWhole || shortId(each) === each ? each : each.slice(0, length));
  const view: View = { nowMs: atMs ?? Date.now(), id };
  const rows = items.flatMap((item) => [cells(item, view), ...(below?.(item, view) ?? [])]);
  return tableLines(columns, rows, look);
}

/** How much of generated ids tells them apart; eight characters nearly always. */
function enough(keys: readonly string[]): number {
  const ids = keys.filter((key) => shortId(key) !== key);
  let length = 8;
  while (length < 32 && new Set(ids.map((id) => id.slice(0, length))).size < ids.length)
    length += 1;
  return length;
}
