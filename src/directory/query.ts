/** Filters and pages of the directory. */
import { type Order, pageOf } from "../core/pages.ts";
import { TIERS, type DirectoryEntry, type Tier } from "../core/directory.ts";
import { shownCardOf } from "./shown-card.ts";

export interface DirectoryFilters {
  /** A skill with this id or name, or one of these tags; letters large or small. */
  readonly skill?: string | undefined;
  readonly tag?: string | undefined;
  /** Of this tier at least; `reachable` where nothing is said. */
  readonly tier?: Tier | undefined;
}

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
  { skill, tag, tier = "reachable" }: DirectoryFilters,
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
