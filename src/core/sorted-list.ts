/**
 * Items in order, kept while they come and go: an array in pieces, so that putting an item in moves
 * a few hundred others and not all of them. A page costs what it shows wherever it begins, and how
 * many stand before a place is a sum over the pieces.
 */

/** A piece that grows beyond this becomes two. */
const PIECE = 512;

export class SortedList<Item> {
  readonly #compare: (a: Item, b: Item) => number;
  /** None of them is empty. */
  readonly #pieces: Item[][] = [];
  #size = 0;

  constructor(compare: (a: Item, b: Item) => number) {
    this.#compare = compare;
  }

  get size(): number {
    return this.#size;
  }

  get first(): Item | undefined {
    return this.#pieces[0]?.[0];
  }

  get last(): Item | undefined {
    return this.#pieces.at(-1)?.at(-1);
  }

  /** In place of one that compares equal, if there is one. */
  add(item: Item): void {
    const { piece, at } = this.#find((each) => this.#compare(each, item) >= 0);
    const into = this.#pieces[piece] ?? this.#pieces.at(-1);
    if (!into) {
      this.#pieces.push([item]);
      this.#size = 1;
      return;
    }
    const isLast = piece === this.#pieces.length;
    const place = isLast ? into.length : at;
    const there = into[place];
    if (there !== undefined && this.#compare(there, item) === 0) {
      into[place] = item;
      return;
    }
    into.splice(place, 0, item);
    this.#size += 1;
    if (into.length > PIECE) this.#split(isLast ? piece - 1 : piece, place === into.length - 1);
  }

  /** Whether there was one that compares equal. */
  delete(item: Item): boolean {
    const { piece, at } = this.#find((each) => this.#compare(each, item) >= 0);
    const from = this.#pieces[piece];
    const there = from?.[at];
    if (!from || there === undefined || this.#compare(there, item) !== 0) return false;
    from.splice(at, 1);
    this.#size -= 1;
    if (from.length === 0) this.#pieces.splice(piece, 1);
    return true;
  }

  clear(): void {
    this.#pieces.length = 0;
    this.#size = 0;
  }

  /** From the first that has reached a place on: all behind it have reached it, too. */
  *from(hasReached: (item: Item) => boolean = () => true): Generator<Item> {
    const { piece: first, at } = this.#find(hasReached);
    for (let piece = first; piece < this.#pieces.length; piece += 1) {
      const items = this.#pieces[piece] ?? [];
      for (let i = piece === first ? at : 0; i < items.length; i += 1) {
        const item = items[i];
        if (item !== undefined) yield item;
      }
    }
  }

  /** All, the last first. */
  *backwards(): Generator<Item> {
    for (const piece of this.#pieces.toReversed()) {
      for (let i = piece.length - 1; i >= 0; i -= 1) {
        const item = piece[i];
        if (item !== undefined) yield item;
      }
    }
  }

  /** How many stand before the first that has reached a place. */
  countBefore(hasReached: (item: Item) => boolean): number {
    const { piece, at } = this.#find(hasReached);
    let count = at;
    for (let i = 0; i < piece; i += 1) count += this.#pieces[i]?.length ?? 0;
    return count;
  }

  /** The place of the first item that has reached it; behind all pieces where none has. */
  #find(hasReached: (item: Item) => boolean): { readonly piece: number; readonly at: number } {
    const { first } = this;
    const isPast = (items: readonly Item[] | undefined) => {
      const last = items?.at(-1);
      return last !== undefined && hasReached(last);
    };
    // Asked for the beginning or the end, as most are, it need not search.
    if (first !== undefined && hasReached(first)) return { piece: 0, at: 0 };
    if (!isPast(this.#pieces.at(-1))) return { piece: this.#pieces.length, at: 0 };
    const piece = firstOf(this.#pieces, isPast);
    return { piece, at: firstOf(this.#pieces[piece] ?? [], hasReached) };
  }

  /** A list that only grows at its end leaves full pieces behind, not half-full ones. */
  #split(piece: number, isAtEnd: boolean): void {
    const items = this.#pieces[piece] ?? [];
    const keep = isAtEnd ? items.length - 1 : items.length >> 1;
    this.#pieces.splice(piece + 1, 0, items.splice(keep));
  }
}

/** The items of sorted lists, which have none in common, in order: it costs what is taken of it. */
export function* merged<Item>(
  lists: Iterable<Iterable<Item>>,
  compare: (a: Item, b: Item) => number,
): Generator<Item> {
  const heads: MergeHead<Item>[] = [];
  for (const list of lists) {
    const rest = list[Symbol.iterator]();
    const next = rest.next();
    if (!next.done) heads.push({ item: next.value, rest });
  }
  // The first of all is the last of them: it is taken off the end.
  heads.sort((a, b) => compare(b.item, a.item));
  for (let head = heads.pop(); head; head = heads.pop()) {
    const { item, rest } = head;
    yield item;
    const next = rest.next();
    if (next.done) continue;
    const place = firstOf(heads, (each) => compare(each.item, next.value) < 0);
    heads.splice(place, 0, { item: next.value, rest });
  }
}

/** The first item of a list that was not taken yet, and those behind it. */
interface MergeHead<Item> {
  readonly item: Item;
  readonly rest: Iterator<Item>;
}

/** The place of the first that has reached it: all behind it have reached it, too. */
export function firstOf<T>(all: readonly T[], hasReached: (each: T) => boolean): number {
  let low = 0;
  let high = all.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const each = all[middle];
    if (each !== undefined && hasReached(each)) high = middle;
    else low = middle + 1;
  }
  return low;
}
