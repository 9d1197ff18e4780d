/** Filters and pages of the directory. */
import { against, cursorOf, type Order, pageOf, placeIn } from "../core/pages.ts";
import {
  byRegistration,
  entryAsSeen,
  TIERS,
  type Directory,
  type DirectoryEntry,
  type DirectoryRecord,
  type Tier,
} from "../core/directory.ts";
import { merged } from "../core/sorted-list.ts";
import { shownCardOf } from "./shown-card.ts";

export interface DirectoryFilters {
  /** A skill with this id or name, or one of these tags; letters large or small. */
  readonly skill?: string | undefined;
  readonly tag?: string | undefined;
  /** Of this tier at least; `reachable` where nothing is said. */
  readonly tier?: Tier | undefined;
}

const DEFAULT_TIER: Tier = "reachable";

export interface DirectoryPageBounds {
  readonly limit?: number | undefined;
  readonly cursor?: string | undefined;
}

export interface DirectoryPage {
  readonly entries: readonly DirectoryEntry[];
  /** How many there are on all pages together. */
  readonly total: number;
  readonly cursor?: string;
}

export function isWantedEntry(
  entry: DirectoryEntry,
  { skill, tag, tier = DEFAULT_TIER }: DirectoryFilters,
) {
  if (TIERS.indexOf(entry.tier) < TIERS.indexOf(tier)) return false;
  if (skill === undefined && tag === undefined) return true;
  const skills = entry.card ? shownCardOf(entry.card).prose.skills : [];
  return (
    (skill === undefined || skills.some(({ id, name }) => is(id, skill) || is(name, skill))) &&
    (tag === undefined || skills.some(({ tags }) => tags.some((each) => is(each, tag))))
  );
}

function is(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase();
}

/** In order of their registration. */
const ORDER: Order<DirectoryEntry> = {
  atMs: ({ registeredAtMs }) => registeredAtMs,
  key: ({ url }) => url,
};

/** The first of these behind the cursor. */
export function entryPage(
  entries: readonly DirectoryEntry[],
  { limit = Infinity, cursor }: DirectoryPageBounds,
): DirectoryPage {
  const { items, ...page } = pageOf(entries, ORDER, { limit, cursor });
  return { entries: items, ...page };
}

interface TierQuery extends DirectoryPageBounds, Pick<DirectoryFilters, "tier"> {}

/** The same of a tier and of higher ones, which are kept in order: it costs what it shows. */
export function tierPage(
  { byTier }: Directory,
  { tier = DEFAULT_TIER, limit = Infinity, cursor }: TierQuery,
): DirectoryPage {
  const after = placeIn({ cursor });
  const isBehind = ({ entry }: DirectoryRecord) => !after || against(ORDER, entry, after) > 0;
  const lists = TIERS.slice(TIERS.indexOf(tier)).map((each) => byTier[each]);
  const total = lists.reduce((sum, { size }) => sum + size, 0);
  const entries: DirectoryEntry[] = [];
  const behind = lists.map((list) => list.from(isBehind));
  for (const record of merged(behind, byRegistration)) {
    const last = entries.at(-1);
    if (entries.length >= limit && last) return { entries, total, cursor: cursorOf(ORDER, last) };
    entries.push(entryAsSeen(record));
  }
  return { entries, total };
}

/** Reads them, a step for each. */
export function* cardsRead(entries: Iterable<DirectoryEntry>): Generator<void, void> {
  for (const { card } of entries) {
    if (card) shownCardOf(card);
    yield;
  }
}

/** A step for each that is looked at. */
export function* entriesOf(
  { byUrl }: Directory,
  filters: DirectoryFilters,
): Generator<void, DirectoryEntry[]> {
  const entries: DirectoryEntry[] = [];
  for (const record of byUrl.values()) {
    if (isWantedEntry(record.entry, filters)) entries.push(entryAsSeen(record));
    yield;
  }
  return entries;
}

/** How many a search may show; in steps, one for each entry. */
export function* countOf({ byUrl }: Directory, filters: DirectoryFilters): Generator<void, number> {
  let total = 0;
  for (const { entry } of byUrl.values()) {
    if (entry.card && isWantedEntry(entry, filters)) total += 1;
    yield;
  }
  return total;
}

/** The first of these URLs that are wanted; in steps, one for each. */
export function* firstOf(
  { byUrl }: Directory,
  urls: readonly string[],
  { filters, wanted }: { readonly filters: DirectoryFilters; readonly wanted: number },
): Generator<void, DirectoryEntry[]> {
  const entries: DirectoryEntry[] = [];
  for (const url of urls) {
    if (entries.length >= wanted) break;
    const record = byUrl.get(url);
    if (record && isWantedEntry(record.entry, filters)) entries.push(entryAsSeen(record));
    yield;
  }
  return entries;
}
