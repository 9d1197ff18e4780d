/**
 * The one item that a person means by a word: by its id, by another name for it, by its name, or by
 * a part that no other has. An item that is here goes before those that are gone. A word that fits
 * several is refused with all of them; one that fits none, with those that look like it.
 */
import { refuse, type Refusal } from "./decide.ts";
import { nearest } from "./nearest.ts";
import { atOnce } from "./steps.ts";
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

/** Of those that may be meant, or look like it: comparing more takes longer than one waits. */
const KEPT = 1_000;

/** As many as one reads to see which was meant. */
const CHOICES = 5;

export type Match<T> = { readonly ok: true; readonly item: T } | Refusal;

export function meant<T>(
  items: Iterable<T>,
  namesOf: (item: T) => Nameable,
  search: WordSearch,
): Match<T> {
  return atOnce(seek(items, namesOf, search));
}

/** The same in steps, one for each item: for what may be a million, while others are served. */
export function* seek<T>(
  items: Iterable<T>,
  namesOf: (item: T) => Nameable,
  search: WordSearch,
): Generator<void, Match<T>> {
  const { word, noun } = search;
  const named = new Candidates<T>();
  const partly = new Candidates<T>();
  const names = new Candidates<T>();
  for (const item of items) {
    const each = namesOf(item);
    if (each.id === word || each.aliases?.includes(word)) return { ok: true, item };
    if (each.name === word) named.add(item, each);
    else if (hasPart(each, word)) partly.add(item, each);
    else names.add(item, each);
    yield;
  }
  const isNamed = named.count > 0;
  const { count, first } = isNamed ? named : partly;
  const [only] = first;
  if (!only) return unknown(names.first, search);
  if (count === 1) return { ok: true, item: only.item };
  const how = isNamed ? "are called" : "may be meant by";
  const reason = `${count} ${noun}s ${how} ${word}: ${choiceOf(first, count)}; give an id`;
  return refuse("INVALID_ARGUMENT", reason);
}

type Candidate<T> = Nameable & { readonly item: T };

/** The matches that are here, or, where none is, those that are gone: a count and the first few. */
class Candidates<T> {
  readonly #here = { count: 0, first: [] as Candidate<T>[] };
  readonly #gone = { count: 0, first: [] as Candidate<T>[] };

  add(item: T, { id, name, isHere }: Nameable): void {
    const side = isHere ? this.#here : this.#gone;
    side.count += 1;
    if (side.first.length < KEPT) side.first.push({ id, name, isHere, item });
  }

  get count(): number {
    return this.#here.count || this.#gone.count;
  }

  get first(): readonly Candidate<T>[] {
    return this.#here.count > 0 ? this.#here.first : this.#gone.first;
  }
}

function hasPart({ id, name }: Nameable, word: string): boolean {
  if (word.length < PART_LENGTH) return false;
  return id.startsWith(word) || name.toLowerCase().includes(word.toLowerCase());
}

function unknown(first: readonly Nameable[], { word, noun, place = "" }: WordSearch): Refusal {
  const similar = nearest(word, new Set(first.map(({ name }) => name)));
  const question = similar.length > 0 ? `; did you mean ${similar.join(" or ")}?` : "";
  return refuse("NOT_FOUND", `no ${noun} ${word || '""'}${place}${question}`);
}

function choiceOf(found: readonly Nameable[], count: number): string {
  const shown = found
    .slice(0, CHOICES)
    .map(({ id, name }) => (id === name ? id : `${shortId(id)} (${name})`));
  const more = count > CHOICES ? `, and ${count - CHOICES} more` : "";
  return `${shown.join(", ")}${more}`;
}
