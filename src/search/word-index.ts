/**
 * Which documents share words with a query, and how much that means: BM25. A vector knows what a
 * text is about but not how a thing is called; words find exact names.
 *
 * Documents are slots, numbers that the caller gives out in rising order. Nothing is removed one by
 * one: the gone keep their place until the caller packs the slots, and only then cost nothing.
 */
import { Postings } from "./postings.ts";

const K1 = 1.2;
const B = 0.75;
/** Slot and count in one number: counts above 15 mean no more than 15. */
const COUNT_BITS = 4;
const MAX_COUNT = (1 << COUNT_BITS) - 1;

export class WordIndex {
  readonly #places = new Postings();
  #lengths: number[] = [];
  #totalLength = 0;

  /** How many words it knows. */
  get size(): number {
    return this.#places.size;
  }

  /** The next slot. */
  add(text: string): void {
    const slot = this.#lengths.length;
    const counts = new Map<string, number>();
    const words = wordsOf(text);
    for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
    for (const [word, count] of counts) {
      this.#places.add(word, (slot << COUNT_BITS) | Math.min(count, MAX_COUNT));
    }
    this.#lengths.push(words.length);
    this.#totalLength += words.length;
  }

  /** Adds to each slot's score what the query's words are worth there, times the weight. */
  score(query: string, weight: number, scores: Float32Array): void {
    const total = this.#lengths.length;
    const meanLength = this.#totalLength / Math.max(1, total);
    for (const word of new Set(wordsOf(query))) {
      const places = this.#places.get(word);
      const rarity = Math.log(1 + (total - places.length + 0.5) / (places.length + 0.5));
      for (const place of places) {
        const slot = place >>> COUNT_BITS;
        const count = place & MAX_COUNT;
        const length = (this.#lengths[slot] ?? 0) / Math.max(1, meanLength);
        const worth = (count * (K1 + 1)) / (count + K1 * (1 - B + B * length));
        scores[slot] = (scores[slot] ?? 0) + weight * rarity * worth;
      }
    }
  }

  /** Slots move together: `moved` has the new one of each, −1 for the gone; order is kept. */
  pack(moved: Int32Array): void {
    this.#places.pack((place) => {
      const slot = moved[place >>> COUNT_BITS] ?? -1;
      return slot < 0 ? -1 : (slot << COUNT_BITS) | (place & MAX_COUNT);
    });
    this.#lengths = this.#lengths.filter((_, slot) => (moved[slot] ?? -1) >= 0);
    this.#totalLength = this.#lengths.reduce((sum, length) => sum + length, 0);
  }
}

/** Letters and digits: `web_search-2` is three words. */
function wordsOf(text: string): readonly string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
}
