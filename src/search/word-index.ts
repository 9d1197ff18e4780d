/**
 * Which documents share words with a query, and how much that means: BM25, times the square of the
 * share of the query that they cover. A vector knows what a text is about but not how a thing is
 * called; words find exact names. One word of many in common is chance, and would spoil what the
 * vectors know: without the square, a paraphrase finds its agent less often than without words.
 * A name that stands in the query as a whole counts by itself, whatever else the query says.
 *
 * Documents are slots, numbers that the caller gives out in rising order. Nothing is removed one by
 * one: the gone keep their place until the caller packs the slots, and only then cost nothing.
 */
import { Postings } from "./postings.ts";

const K1 = 1.2;
const B = 0.75;
/** Slot, whether it is a word of the name, and count in one number: counts above 7 mean 7. */
const SLOT_BITS = 4;
const IN_NAME = 8;
const MAX_COUNT = 7;

/** Among more documents than this, a word that half of them have is not worth the look. */
const MANY = 1_000;

export interface WordWeights {
  readonly words: number;
  readonly names: number;
}

export class WordIndex {
  readonly #places = new Postings();
  #lengths: number[] = [];
  /** How many words a name has. */
  #nameSizes: number[] = [];
  #totalLength = 0;

  /** How many words it knows. */
  get size(): number {
    return this.#places.size;
  }

  /** The next slot; the name is part of the text. */
  add(text: string, name: string): void {
    const slot = this.#lengths.length;
    const counts = new Map<string, number>();
    const words = wordsOf(text);
    const inName = new Set(wordsOf(name));
    for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
    for (const [word, count] of counts) {
      const kind = inName.has(word) ? IN_NAME : 0;
      this.#places.add(word, (slot << SLOT_BITS) | kind | Math.min(count, MAX_COUNT));
    }
    this.#lengths.push(words.length);
    this.#nameSizes.push(inName.size);
    this.#totalLength += words.length;
  }

  /** Adds to each slot's score what the query's words are worth there, times the weights. */
  score(query: string, weights: WordWeights, scores: Float32Array): void {
    const total = this.#lengths.length;
    const meanLength = Math.max(1, this.#totalLength / Math.max(1, total));
    const worths = new Float32Array(total);
    const covered = new Float32Array(total);
    const named = new Float32Array(total);
    const nameHits = new Uint8Array(total);
    let whole = 0;
    for (const word of new Set(wordsOf(query))) {
      const places = this.#places.get(word);
      if (total > MANY && places.length > total / 2) continue;
      const rarity = Math.log(1 + (total - places.length + 0.5) / (places.length + 0.5));
      whole += rarity;
      for (const place of places) {
        const slot = place >>> SLOT_BITS;
        const count = place & MAX_COUNT;
        const length = (this.#lengths[slot] ?? 0) / meanLength;
        const worth = (count * (K1 + 1)) / (count + K1 * (1 - B + B * length));
        worths[slot] = (worths[slot] ?? 0) + rarity * worth;
        covered[slot] = (covered[slot] ?? 0) + rarity;
        if ((place & IN_NAME) === 0) continue;
        named[slot] = (named[slot] ?? 0) + rarity;
        nameHits[slot] = (nameHits[slot] ?? 0) + 1;
      }
    }
    for (let slot = 0; slot < total; slot += 1) {
      const share = (covered[slot] ?? 0) / whole;
      if (!(share > 0)) continue;
      const isNamed = nameHits[slot] === this.#nameSizes[slot];
      const byName = isNamed ? weights.names * (named[slot] ?? 0) : 0;
      const byWords = weights.words * (worths[slot] ?? 0) * share * share;
      scores[slot] = (scores[slot] ?? 0) + byWords + byName;
    }
  }

  /** Slots move together: `moved` has the new one of each, −1 for the gone; order is kept. */
  pack(moved: Int32Array): void {
    this.#places.pack((place) => {
      const slot = moved[place >>> SLOT_BITS] ?? -1;
      return slot < 0 ? -1 : (slot << SLOT_BITS) | (place & (IN_NAME | MAX_COUNT));
    });
    const isKept = (_: number, slot: number) => (moved[slot] ?? -1) >= 0;
    this.#lengths = this.#lengths.filter(isKept);
    this.#nameSizes = this.#nameSizes.filter(isKept);
    this.#totalLength = this.#lengths.reduce((sum, length) => sum + length, 0);
  }
}

/** Letters and digits: `web_search-2` is three words. */
function wordsOf(text: string): readonly string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
}
