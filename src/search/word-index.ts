/**
 * Which documents share words with a query, and how much that means: BM25. A vector knows what a
 * text is about but not how a thing is called; words find exact names.
 *
 * Documents are slots, numbers that the caller gives out in rising order. Nothing is removed one by
 * one: the gone keep their place until the caller packs the slots, and only then cost nothing.
 */
const K1 = 1.2;
const B = 0.75;
/** Slot and count in one number: counts above 15 mean no more than 15. */
const COUNT_BITS = 4;
const MAX_COUNT = (1 << COUNT_BITS) - 1;

export class WordIndex {
  /** Of each word, where it occurs, in rising order. */
  #places = new Map<string, number[]>();
  #lengths: number[] = [];
  #totalLength = 0;

  /** The next slot. */
  add(text: string): void {
    const slot = this.#lengths.length;
    const counts = new Map<string, number>();
    const words = wordsOf(text);
    for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
    for (const [word, count] of counts) {
      const place = (slot << COUNT_BITS) | Math.min(count, MAX_COUNT);
      const places = this.#places.get(word);
      if (places) places.push(place);
      else this.#places.set(word, [place]);
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
      if (!places) continue;
      const rarity = Math.log(1 + (total - places.length + 0.5) / (places.length + 0.5));
      for (const place of places) {
        const slot = place >> COUNT_BITS;
        const count = place & MAX_COUNT;
        const length = (this.#lengths[slot] ?? 0) / Math.max(1, meanLength);
        const worth = (count * (K1 + 1)) / (count + K1 * (1 - B + B * length));
        scores[slot] = (scores[slot] ?? 0) + weight * rarity * worth;
      }
    }
  }

  /** Slots move together: `moved` has the new one of each, −1 for the gone; order is kept. */
  pack(moved: Int32Array): void {
    const packed = new Map<string, number[]>();
    for (const [word, places] of this.#places) {
      const kept: number[] = [];
      for (const place of places) {
        const slot = moved[place >> COUNT_BITS] ?? -1;
        if (slot >= 0) kept.push((slot << COUNT_BITS) | (place & MAX_COUNT));
      }
      if (kept.length > 0) packed.set(word, kept);
    }
    this.#places = packed;
    this.#lengths = this.#lengths.filter((_, slot) => (moved[slot] ?? -1) >= 0);
    this.#totalLength = this.#lengths.reduce((sum, length) => sum + length, 0);
  }
}

/** Letters and digits: `web_search-2` is three words. */
function wordsOf(text: string): readonly string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
}
