/**
 * Indexes of the rows: by their place (so that each headline is one stretch of it, those that need
 * a person the first), by machine and by folder, with the number of each headline. A page costs
 * what it shows, however many rows there are.
 *
 * Of a row only what finds it is kept; the row itself is made when it is shown.
 */
import { byText } from "../core/text.ts";
import { merged, SortedList } from "../core/sorted-list.ts";
import type { Counts } from "./census.ts";
import { isBelow, placesIn, type FleetFilters } from "./filters.ts";
import { HEADLINES, byRowPlace, type Headline, type RowPlace, type Places } from "./headline.ts";

/** A row as the indexes need it. */
export interface IndexedRow extends RowPlace {
  readonly headline: Headline;
  /** Not if it was at nothing when it fell silent, long ago. */
  readonly isCounted: boolean;
  readonly workspace: string | null;
  readonly hosts: readonly string[];
}

export interface RowPageBounds {
  readonly limit: number;
  /** The last row of the page before. */
  readonly after?: RowPlace | undefined;
}

export interface IndexedPage<Item> {
  readonly items: readonly Item[];
  /** How many there are on all pages together. */
  readonly total: number;
  /** Behind which the next page begins; absent on the last one. */
  readonly next?: RowPlace | undefined;
  /** It looked at so many rows and no further: `total` is of those, and the page may be short. */
  readonly isPartial?: boolean;
}

/** Folders whose rows are put together for one page; below a wider prefix rows are looked at. */
const FOLDERS = 200;
/** Rows that are looked at for one page: a few milliseconds. */
export const LOOKED = 20_000;

export class RowIndexes<Item extends IndexedRow> {
  readonly #all = new SortedList<Item>(byRowPlace);
  readonly #byHost = new Map<string, SortedList<Item>>();
  readonly #byFolder = new Map<string, SortedList<Item>>();
  readonly #folders = new SortedList<string>(byText);
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
  page(filters: FleetFilters, { limit, after }: RowPageBounds): IndexedPage<Item> {
    const { host, workspacePrefix } = filters;
    const lists = this.#listsFor(filters);
    // There is no index of folders on one machine, and below "/" there may be one for each row.
    const isScanned = (host !== undefined && workspacePrefix !== "") || lists.length > FOLDERS;
    if (isScanned) {
      const list = host === undefined ? this.#all : this.#byHost.get(host);
      return list ? scanned(list, filters, { limit, after }) : { items: [], total: 0 };
    }
    const stretches = placesIn(filters);
    const total = lists.reduce((sum, list) => sum + countIn(list, stretches), 0);
    const behind = lists.map((list) => itemsIn(list, stretches, after));
    const items: Item[] = [];
    for (const item of merged<Item>(behind, byRowPlace)) {
      if (items.length >= limit) return { items, total, next: items.at(-1) };
      items.push(item);
    }
    return { items, total };
  }

  #count(headline: Headline, by: number): void {
    this.#counts.set(headline, (this.#counts.get(headline) ?? 0) + by);
  }

  /** The lists whose rows may be on the page: no more than one too many. */
  #listsFor({ host, workspacePrefix }: FleetFilters): readonly SortedList<Item>[] {
    const only = host === undefined ? this.#all : this.#byHost.get(host);
    if (host !== undefined || workspacePrefix === "") return only ? [only] : [];
    const lists: SortedList<Item>[] = [];
    for (const folder of this.#folders.from((each) => each >= workspacePrefix)) {
      if (!folder.startsWith(workspacePrefix) || lists.length > FOLDERS) break;
      const list = this.#byFolder.get(folder);
      if (list) lists.push(list);
    }
    return lists;
  }
}

function countIn<Item extends RowPlace>(
  list: SortedList<Item>,
  stretches: readonly Places[],
): number {
  const { first, last, size } = list;
  if (!first || !last) return 0;
  const countUpTo = (end: number) => {
    if (first.place >= end) return 0;
    return last.place < end ? size : list.countBefore(({ place }) => place >= end);
  };
  return stretches.reduce((sum, { from, to }) => sum + countUpTo(to) - countUpTo(from), 0);
}

/** Looks at one row after the other. A short list from its beginning, so that all are counted. */
function scanned<Item extends IndexedRow>(
  list: SortedList<Item>,
  filters: FleetFilters,
  { limit, after }: RowPageBounds,
): IndexedPage<Item> {
  const from = list.size > LOOKED ? after : undefined;
  const isShown = (item: Item) => after !== undefined && byRowPlace(item, after) <= 0;
  const items: Item[] = [];
  let looked = 0;
  let total = 0;
  let last: Item | undefined;
  for (const item of itemsIn(list, placesIn(filters), from)) {
    if (looked >= LOOKED) {
      const shown = items.slice(0, limit);
      const next = items.length > limit ? shown.at(-1) : last;
      return { items: shown, total, next, isPartial: true };
    }
    looked += 1;
    last = item;
    if (!isBelow(item.workspace, filters.workspacePrefix)) continue;
    total += 1;
    if (items.length <= limit && !isShown(item)) items.push(item);
  }
  const shown = items.slice(0, limit);
  return { items: shown, total, next: items.length > limit ? shown.at(-1) : undefined };
}

function* itemsIn<Item extends RowPlace>(
  list: SortedList<Item>,
  stretches: readonly Places[],
  after: RowPlace | undefined,
): Generator<Item> {
  for (const { from, to } of stretches) {
    const hasReached = (item: Item) =>
      item.place >= from && (!after || byRowPlace(item, after) > 0);
    for (const item of list.from(hasReached)) {
      if (item.place >= to) break;
      yield item;
    }
  }
}

function addTo<Item extends RowPlace>(
  lists: Map<string, SortedList<Item>>,
  key: string,
  item: Item,
): void {
  const list = lists.get(key) ?? new SortedList<Item>(byRowPlace);
  lists.set(key, list);
  list.add(item);
}

function deleteFrom<Item extends RowPlace>(
  lists: Map<string, SortedList<Item>>,
  key: string,
  item: Item,
): void {
  const list = lists.get(key);
  if (list?.delete(item) && list.size === 0) lists.delete(key);
}
