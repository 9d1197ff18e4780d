/**
 * The vectors of all documents, one after the other in a few large blocks: comparing a query with
 * ten thousand of them is one pass over ten megabytes, a few milliseconds, and needs no index that
 * would have to be kept in step. One array for all would have to be copied to grow, which stops
 * everything for a fifth of a second at a hundred thousand.
 */
const BLOCK_SLOTS = 4_096;

export class Vectors {
  #blocks: Float32Array[] = [];
  /** 0 until the first vector shows it. */
  #dimensions = 0;

  /** Vectors of all slots that have none are zeros, like nothing. */
  set(slot: number, vector: Float32Array): void {
    if (this.#dimensions === 0) this.#dimensions = vector.length;
    if (vector.length !== this.#dimensions) {
      throw new Error(`a vector of ${vector.length} among those of ${this.#dimensions} dimensions`);
    }
    const size = this.#dimensions;
    const number = Math.floor(slot / BLOCK_SLOTS);
    while (this.#blocks.length <= number) this.#blocks.push(new Float32Array(BLOCK_SLOTS * size));
    this.#blocks[number]?.set(vector, (slot % BLOCK_SLOTS) * size);
  }

  /** Adds to each slot's score how alike it is to the query. */
  score(query: Float32Array, scores: Float32Array): void {
    const size = this.#dimensions;
    if (query.length !== size) return;
    for (const [number, block] of this.#blocks.entries()) {
      const first = number * BLOCK_SLOTS;
      const slots = Math.min(BLOCK_SLOTS, scores.length - first);
      for (let i = 0; i < slots; i += 1) {
        scores[first + i] = (scores[first + i] ?? 0) + product(query, block, i * size);
      }
    }
  }

  /** See WordIndex. */
  pack(moved: Int32Array): void {
    const before = this.#blocks;
    this.#blocks = [];
    for (const [slot, to] of moved.entries()) {
      const block = before[Math.floor(slot / BLOCK_SLOTS)];
      if (to < 0 || !block) continue;
      const from = (slot % BLOCK_SLOTS) * this.#dimensions;
      this.set(to, block.subarray(from, from + this.#dimensions));
    }
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
