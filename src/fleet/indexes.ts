/**
 * Indexes of the rows: by their place (so that each headline is one stretch of it, those that need
 * a person the first), by machine and by folder, with the number of each headline. A page costs
 * what it shows, however many rows there are.
 *
 * Of a row only what finds it is kept; the row itself is made when it is shown.
 */
import { SortedList } from "../core/sorted-list.ts";
import type { Counts } from "./census.ts";
import { isBelow, placesIn, type FleetFilters } from "./filters.ts";
import { HEADLINES, byPlace, type Headline, type Placed, type Places } from "./headline.ts";

/** What finds a row. */
export interface IndexedRow extends Placed {
  readonly headline: Headline;
  /** Not if it was at nothing when it fell silent, long ago. */
  readonly isCounted: boolean;
  readonly workspace: string | null;
  readonly hosts: readonly string[];
}

export interface PageBounds {
  readonly limit: number;
  /** The last row of the page before. */
  readonly after?: Placed | undefined;
}

export interface IndexedPage<Item> {
  readonly items: readonly Item[];
  /** How many there are on all pages together. */
  readonly total: number;
  /** Whether there are more behind them. */
  readonly hasMore: boolean;
}

export class RowIndexes<Item extends IndexedRow> {
  readonly #all = new SortedList<Item>(byPlace);
  readonly #byHost = new Map<string, SortedList<Item>>();
  readonly #byFolder = new Map<string, SortedList<Item>>();
  readonly #folders = new SortedList<string>((a, b) => (a < b ? -1 : Number(a > b)));
  readonly #counts = new Map<Headline, number>();

  /** Without agents that were at nothing when they fell silent, long ago. */
  get counts(): Counts {
    const count = (each: Headline) => [each, this.#counts.get(each) ?? 0] as const;
    return Object.fromEntries(HEADLINES.map(count)) as Counts;
  }

  add(item: Item): void {
    this.#all.add(item);
    if (item.isCounted) this.#count(item.headline, 1);
    for (const host of item.hosts) addTo(this.#byHost, host, item);
    if (item.workspace === null) return;
    addTo(this.#byFolder, item.workspace, item);
    this.#folders.add(item.workspace);
  }

  /** As it was when it was added. */
  delete(item: Item): void {
    this.#all.delete(item);
    if (item.isCounted) this.#count(item.headline, -1);
    for (const host of item.hosts) deleteFrom(this.#byHost, host, item);
    if (item.workspace === null) return;
    deleteFrom(this.#byFolder, item.workspace, item);
    if (!this.#byFolder.has(item.workspace)) this.#folders.delete(item.workspace);
  }

  /** The first rows that are wanted, behind those of the page before. */
  page(filters: FleetFilters, { limit, after }: PageBounds): IndexedPage<Item> {
    const { host, workspacePrefix } = filters;
    // There is no index of folders on one machine: its rows are looked at.
    const isWanted =
      host === undefined || workspacePrefix === ""
        ? undefined
        : (item: Item) => isBelow(item.workspace, workspacePrefix);
    const found: Item[] = [];
    let total = 0;
    for (const list of this.#listsFor(filters)) {
      for (const places of placesIn(filters)) {
        total += countIn(list, places, isWanted);
        found.push(...firstIn(list, places, { isWanted, after, most: limit + 1 }));
      }
    }
    found.sort(byPlace);
    return { items: found.slice(0, limit), total, hasMore: found.length > limit };
  }

  #count(headline: Headline, by: number): void {
    this.#counts.set(headline, (this.#counts.get(headline) ?? 0) + by);
  }

  *#listsFor({ host, workspacePrefix }: FleetFilters): Generator<SortedList<Item>> {
    const only = host === undefined ? this.#all : this.#byHost.get(host);
    if (host !== undefined || workspacePrefix === "") {
      if (only) yield only;
      return;
    }
    for (const folder of this.#folders.from((each) => each >= workspacePrefix)) {
      if (!folder.startsWith(workspacePrefix)) return;
      const list = this.#byFolder.get(folder);
      if (list) yield list;
    }
  }
}

type Wanted<Item> = ((item: Item) => boolean) | undefined;

function countIn<Item extends Placed>(
  list: SortedList<Item>,
  { from, to }: Places,
  isWanted: Wanted<Item>,
): number {
  if (!isWanted) {
    return (
      list.countBefore(({ place }) => place >= to) - list.countBefore(({ place }) => place >= from)
    );
  }
  let count = 0;
  for (const item of list.from(({ place }) => place >= from)) {
    if (item.place >= to) break;
    if (isWanted(item)) count += 1;
  }
  return count;
}

interface First<Item> {
  readonly isWanted: Wanted<Item>;
  readonly after: Placed | undefined;
  readonly most: number;
}

function firstIn<Item extends Placed>(
  list: SortedList<Item>,
  { from, to }: Places,
  { isWanted, after, most }: First<Item>,
): readonly Item[] {
  const found: Item[] = [];
  const hasReached = (item: Item) => item.place >= from && (!after || byPlace(item, after) > 0);
  for (const item of list.from(hasReached)) {
    if (item.place >= to || found.length >= most) break;
    if (!isWanted || isWanted(item)) found.push(item);
  }
  return found;
}

function addTo<Item extends Placed>(
  lists: Map<string, SortedList<Item>>,
  key: string,
  item: Item,
): void {
  const list = lists.get(key) ?? new SortedList<Item>(byPlace);
  lists.set(key, list);
  list.add(item);
}

function deleteFrom<Item extends Placed>(
  lists: Map<string, SortedList<Item>>,
  key: string,
  item: Item,
): void {
  const list = lists.get(key);
  if (list?.delete(item) && list.size === 0) lists.delete(key);
}
