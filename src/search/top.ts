/**
 * The best few of many: a heap with the worst of those kept on top, so that nearly all of the many
 * cost one comparison. Of equals, the smaller item is better.
 */
export class Top {
  readonly #limit: number;
  readonly #items: number[] = [];
  readonly #scores: number[] = [];

  constructor(limit: number) {
    this.#limit = limit;
  }

  offer(item: number, score: number): void {
    const size = this.#items.length;
    if (size < this.#limit) {
      this.#items.push(item);
      this.#scores.push(score);
      this.#rise(size);
    } else if (size > 0 && this.#isWorse(0, item, score)) {
      this.#items[0] = item;
      this.#scores[0] = score;
      this.#sink();
    }
  }

  /** Best first. */
  sorted(): number[] {
    return this.#items
      .map((item, at) => ({ item, score: this.#scores[at] ?? 0 }))
      .sort((a, b) => b.score - a.score || a.item - b.item)
      .map(({ item }) => item);
  }

  #isWorse(at: number, item: number, score: number): boolean {
    const kept = this.#scores[at] ?? 0;
    return kept === score ? (this.#items[at] ?? 0) > item : kept < score;
  }

  #isWorseThan(a: number, b: number): boolean {
    return this.#isWorse(a, this.#items[b] ?? 0, this.#scores[b] ?? 0);
  }

  #rise(from: number): void {
    for (let at = from; at > 0;) {
      const parent = (at - 1) >> 1;
      if (!this.#isWorseThan(at, parent)) return;
      this.#swap(at, parent);
      at = parent;
    }
  }

  #sink(): void {
    const size = this.#items.length;
    for (let at = 0; ;) {
      const [left, right] = [2 * at + 1, 2 * at + 2];
      let worst = at;
      if (left < size && this.#isWorseThan(left, worst)) worst = left;
      if (right < size && this.#isWorseThan(right, worst)) worst = right;
      if (worst === at) return;
      this.#swap(at, worst);
      at = worst;
    }
  }

  #swap(a: number, b: number): void {
    for (const list of [this.#items, this.#scores]) {
      [list[a], list[b]] = [list[b] ?? 0, list[a] ?? 0];
    }
  }
}
