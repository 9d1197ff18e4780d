/**
 * A list as a table for people, as JSON for programs, or live. What a noun has of its own (its
 * columns, its filters, its topics) is a `Listing`; the rest is the same for all and is here.
 */
import type { Client } from "../wires/api/client/client.ts";
import { shortId } from "../core/words.ts";
import type { Context } from "./context.ts";
import { daemonOf, lookOf, note, pathOf, printJson, read } from "./daemon.ts";
import type { ListFlags } from "./flags.ts";
import type { Watching } from "./list-views.ts";
import { tableLines, type Cell, type Column, type Look } from "./terminal/table.ts";

export interface Listing<Item> {
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
  readonly params: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** Beginnings of the topics that may change it. */
  readonly topics: readonly string[];
  readonly columns: readonly Column[];
  cells(item: Item, view: View): readonly Cell[];
  /** Lines that nest below an item. */
  below?(item: Item, view: View): readonly (readonly Cell[])[];
  /** Names one item among all. */
  key(item: Item): string;
  /** What is said when there is nothing. */
  readonly nothing: string;
  /** All of it in a few words, where there is more to say than how many. */
  summary?(answer: Readonly<Record<string, unknown>>): string;
}

/** What cells need to know beside their item. */
export interface View {
  readonly nowMs: number;
  /** A generated id: as much of it as the reader needs. */
  readonly id: (id: string) => string;
}

/** All pages that were asked for, as one; otherwise just what the API answers. */
export interface Listed<Item> {
  readonly sequence: number;
  readonly total: number;
  readonly cursor?: string;
  readonly items: readonly Item[];
  /** When it was so, by the daemon's clock, where that is told. */
  readonly atMs?: number;
  /** As the API gave it. */
  readonly answer: Readonly<Record<string, unknown>>;
}

export async function list<Item>(
  context: Context,
  flags: ListFlags,
  prepare: (daemon: Client) => Listing<Item> | Promise<Listing<Item>>,
): Promise<void> {
  await using daemon = daemonOf(context, flags);
  await showList({ context, daemon, flags, listing: await prepare(daemon) });
}

export async function showList<Item>(watching: Watching<Item>): Promise<void> {
  const { context, daemon, listing, flags } = watching;
  if (flags.watch === true) {
    const { watchList } = await import("./watching.ts");
    return watchList(watching);
  }
  const listed = await fetchList(daemon, listing, flags);
  if (flags.json === true) return printJson(context, listed.answer);
  if (listed.items.length === 0) return note(context, listing.nothing);
  const look = lookOf(context);
  const isWhole = !context.out.isTerminal;
  for (const line of rowsOf(listing, listed, { look, isWhole })) await context.out.line(line);
  const more = listed.total - listed.items.length;
  if (more > 0) await note(context, `${more} more: --limit says how many are shown`);
}

/** The largest page the daemon gives. */
const PAGE = 1_000;

export async function fetchList<Item>(
  daemon: Pick<Client, "get">,
  { noun, params, source }: Listing<Item>,
  { limit, signal }: { readonly limit: number; readonly signal?: AbortSignal },
): Promise<Listed<Item>> {
  type Page = Omit<Listed<Item>, "items" | "answer"> & Record<string, unknown>;
  const { path, field } = source ?? { path: `/v1/${noun}`, field: noun };
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
  return { ...place, items, answer: { ...place, [field]: items } };
}

export interface RowsLook {
  readonly look: Look;
  /** Ids in full: for pipes, where nobody has to fit them in. */
  readonly isWhole: boolean;
}

/** The heading and a line for each item. */
export function rowsOf<Item>(
  listing: Listing<Item>,
  { items, atMs }: Pick<Listed<Item>, "items" | "atMs">,
  { look, isWhole }: RowsLook,
): string[] {
  const length = enough(items.map((item) => listing.key(item)));
  const id = (each: string) => (isWhole || shortId(each) === each ? each : each.slice(0, length));
  const view: View = { nowMs: atMs ?? Date.now(), id };
  const rows = items.flatMap((item) => [
    listing.cells(item, view),
    ...(listing.below?.(item, view) ?? []),
  ]);
  return tableLines(listing.columns, rows, look);
}

/** How much of generated ids tells them apart; eight characters nearly always. */
function enough(keys: readonly string[]): number {
  const ids = keys.filter((key) => shortId(key) !== key);
  let length = 8;
  while (length < 32 && new Set(ids.map((id) => id.slice(0, length))).size < ids.length)
    length += 1;
  return length;
}
