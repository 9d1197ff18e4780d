/**
 * The one item that a person means by a word: by its id, by another name for it, by its name, or by
 * a part that no other has. An item that is here goes before those that are gone. A word that fits
 * several is refused with all of them; one that fits none, with those that look like it.
 */
import { refuse, type Refusal } from "./decide.ts";
import { nearest } from "./nearest.ts";
import { shortId } from "./words.ts";

/** An item, by all that a person may call it. */
export interface Nameable {
  readonly id: string;
  readonly name: string;
  readonly aliases?: readonly string[];
  readonly isHere: boolean;
}

export interface WordSearch {
  readonly word: string;
  /** The word for an item, and where they are: "agent", " in the fleet". */
  readonly noun: string;
  readonly place?: string;
}

/** The part of a script whose variable is nearly empty must not hit the only one there is. */
const PART_LENGTH = 3;

/** As many as one reads to see which was meant. */
const CHOICES = 5;

export type Found<T> = { readonly ok: true; readonly item: T } | Refusal;

/** Of items that are filed by their ids: an id costs nothing. */
export function meantIn<T>(
  byId: ReadonlyMap<string, T>,
  namesOf: (item: T) => Nameable,
  search: WordSearch,
): Found<T> {
  const exact = byId.get(search.word);
  return exact === undefined ? meant(byId.values(), namesOf, search) : { ok: true, item: exact };
}

export function meant<T>(
  items: Iterable<T>,
  namesOf: (item: T) => Nameable,
  search: WordSearch,
): Found<T> {
  const { word } = search;
  const all = Array.from(items, (item) => ({ item, ...namesOf(item) }));
  const exact = all.find(({ id, aliases = [] }) => id === word || aliases.includes(word));
  if (exact) return { ok: true, item: exact.item };
  const named = all.filter(({ name }) => name === word);
  const isNamed = named.length > 0;
  const found = preferHere(isNamed ? named : all.filter((each) => hasPart(each, word)));
  const [only, ...others] = found;
  if (!only) return unknown(all, search);
  if (others.length === 0) return { ok: true, item: only.item };
  const { noun } = search;
  const how = isNamed ? "are called" : "may be meant by";
  const reason = `${found.length} ${noun}s ${how} ${word}: ${choiceOf(found)}; give an id`;
  return refuse("INVALID_ARGUMENT", reason);
}

function hasPart({ id, name }: Nameable, word: string): boolean {
  if (word.length < PART_LENGTH) return false;
  return id.startsWith(word) || name.toLowerCase().includes(word.toLowerCase());
}

function preferHere<T extends Nameable>(found: readonly T[]): readonly T[] {
  const here = found.filter(({ isHere }) => isHere);
  return here.length > 0 ? here : found;
}

function unknown(all: readonly Nameable[], { word, noun, place = "" }: WordSearch): Refusal {
  const names = new Set(preferHere(all).map(({ name }) => name));
  const similar = nearest(word, names);
  const question = similar.length > 0 ? `; did you mean ${similar.join(" or ")}?` : "";
  return refuse("NOT_FOUND", `no ${noun} ${word || '""'}${place}${question}`);
}

function choiceOf(found: readonly Nameable[]): string {
  const shown = found
    .slice(0, CHOICES)
    .map(({ id, name }) => (id === name ? id : `${shortId(id)} (${name})`));
  const more = found.length > CHOICES ? `, and ${found.length - CHOICES} more` : "";
  return `${shown.join(", ")}${more}`;
}
