/**
 * Filters and pages of the directory. Lists are in order of registration and stay right while
 * entries come and go: a page begins behind a place (a moment, then a URL), not behind a count.
 */
import { invalidArgument } from "../core/errors.ts";
import { TIERS, type DirectoryEntry, type Tier } from "../core/directory.ts";
import { QUERY } from "./limits.ts";
import { shown } from "./shown-card.ts";

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

export function isWanted(
  entry: DirectoryEntry,
  { skill, tag, tier = "reachable" }: DirectoryFilters,
) {
  if (TIERS.indexOf(entry.tier) < TIERS.indexOf(tier)) return false;
  if (skill === undefined && tag === undefined) return true;
  const skills = entry.card ? shown(entry.card).prose.skills : [];
  return (
    (skill === undefined || skills.some(({ id, name }) => is(id, skill) || is(name, skill))) &&
    (tag === undefined || skills.some(({ tags }) => tags.some((each) => is(each, tag))))
  );
}

function is(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase();
}

/** The first of these behind the cursor. */
export function pageOf(
  entries: readonly DirectoryEntry[],
  { limit, cursor }: DirectoryPageBounds,
): DirectoryPage {
  const after = cursor === undefined ? undefined : placeOf(cursor);
  const sorted = entries.toSorted(compare);
  const left = after ? sorted.filter((entry) => compare(entry, after) > 0) : sorted;
  const page = limit === undefined ? left : left.slice(0, limit);
  const last = page.at(-1);
  const hasMore = page.length < left.length && last;
  const total = entries.length;
  return { entries: page, total, ...(hasMore && { cursor: cursorOf(last) }) };
}

type EntryPlace = Pick<DirectoryEntry, "registeredAtMs" | "url">;

function compare(a: EntryPlace, b: EntryPlace): number {
  return a.registeredAtMs - b.registeredAtMs || (a.url < b.url ? -1 : Number(a.url > b.url));
}

function cursorOf({ registeredAtMs, url }: EntryPlace): string {
  return Buffer.from(`${registeredAtMs} ${url}`).toString("base64url");
}

function placeOf(cursor: string): EntryPlace {
  const text =
    cursor.length > QUERY.cursorLength ? "" : Buffer.from(cursor, "base64url").toString();
  const [, atMs = "", url = ""] = /^(\d{1,16}) (.+)$/s.exec(text) ?? [];
  const place = { registeredAtMs: Number(atMs), url };
  if (url !== "" && cursorOf(place) === cursor) return place;
  throw invalidArgument("cursor is not from an earlier page: leave it out to begin anew");
}
