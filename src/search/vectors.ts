/**
 * The vectors of all documents, one after the other in one array: comparing a query with ten
 * thousand of them is one pass over ten megabytes, a few milliseconds, and needs no index that
 * would have to be kept in step.
 */
export class Vectors {
  #rows = new Float32Array(0);
  /** 0 until the first vector shows it. */
  #dimensions = 0;

  /** Vectors of all slots that have none are zeros, like nothing. */
  set(slot: number, vector: Float32Array): void {
    if (this.#dimensions === 0) this.#dimensions = vector.length;
    if (vector.length !== this.#dimensions) {
      throw new Error(`a vector of ${vector.length} among those of ${this.#dimensions} dimensions`);
    }
    const end = (slot + 1) * this.#dimensions;
    if (end > this.#rows.length) this.#grow(end);
    this.#rows.set(vector, end - this.#dimensions);
  }

  /** Adds to each slot's score how alike it is to the query. */
  score(query: Float32Array, scores: Float32Array): void {
    const size = this.#dimensions;
    if (query.length !== size) return;
    const rows = this.#rows;
    const slots = Math.min(scores.length, rows.length / size);
    for (let slot = 0; slot < slots; slot += 1) {
      scores[slot] = (scores[slot] ?? 0) + product(query, rows, slot * size);
    }
  }

  /** See WordIndex. */
  pack(moved: Int32Array): void {
    const size = this.#dimensions;
    if (size === 0) return;
    const slots = Math.min(moved.length, this.#rows.length / size);
    let kept = 0;
    for (let slot = 0; slot < slots; slot += 1) {
      const to = moved[slot] ?? -1;
      if (to < 0) continue;
      this.#rows.copyWithin(to * size, slot * size, (slot + 1) * size);
      kept = to + 1;
    }
    this.#rows = this.#rows.slice(0, kept * size);
  }

  #grow(atLeast: number): void {
    const slots = Math.ceil((atLeast / this.#dimensions) * 1.5);
    const rows = new Float32Array(slots * this.#dimensions);
    rows.set(this.#rows);
    this.#rows = rows;
  }
}

/** Four sums at a time: one would make each addition wait for the one before. */
function product(query: Float32Array, rows: Float32Array, from: number): number {
  const { length } = query;
  const even = length - (length % 4);
  let [a, b, c, d] = [0, 0, 0, 0];
  for (let i = 0; i < even; i += 4) {
    const at = from + i;
    a += (query[i] ?? 0) * (rows[at] ?? 0);
    b += (query[i + 1] ?? 0) * (rows[at + 1] ?? 0);
    c += (query[i + 2] ?? 0) * (rows[at + 2] ?? 0);
    d += (query[i + 3] ?? 0) * (rows[at + 3] ?? 0);
  }
  for (let i = even; i < length; i += 1) a += (query[i] ?? 0) * (rows[from + i] ?? 0);
  return a + b + c + d;
}
