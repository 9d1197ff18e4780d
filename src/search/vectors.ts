/**
 * The vectors of all documents, 8 bits a number, each with a scale of its own: comparing a query
 * with all of them is one pass over memory (see simd.ts) and needs no index that would have to be
 * kept in step. They lie in the memory of the WebAssembly module:
 *
 *   [ query, 16 bits a number ][ products of one block ][ block ][ block ] …
 *
 * A block has the rows of some slots and then their scales. So all of it grows at the end and
 * nothing has to be copied.
 */
import { newKernel, WASM_PAGE_BYTES, ROW_STEP, type Kernel, type KernelMemory } from "./simd.ts";

const BLOCK_SLOTS = 1_024;
const FLOAT_BYTES = 4;
/** The largest number that 8 bits hold with either sign. */
const LARGEST = 127;

export class Vectors {
  /** 0 until the first vector shows it. */
  #dimensions = 0;
  /** Bytes of a row: the dimensions, rounded up. */
  #rowBytes = 0;
  #kernel: Kernel | undefined;
  #blocks = 0;

  /** Vectors of all slots that have none are zeros, like nothing. */
  set(slot: number, vector: Float32Array): void {
    this.#expect(vector);
    const memory = this.#reach(slot);
    const scale = largest(vector) / LARGEST;
    const row = new Int8Array(memory.buffer, this.#rowAt(slot), vector.length);
    if (scale > 0) for (let i = 0; i < row.length; i += 1) row[i] = rounded(vector[i], scale);
    new Float32Array(memory.buffer, this.#scaleAt(slot), 1)[0] = scale;
  }

  /** Writes to each slot's score how alike it is to the query. */
  score(query: Float32Array, scores: Float32Array): void {
    const kernel = this.#kernel;
    if (!kernel || query.length !== this.#dimensions) return;
    const { memory } = kernel;
    const scale = largest(query) / LARGEST;
    if (scale === 0) return;
    const numbers = new Int16Array(memory.buffer, 0, query.length);
    for (let i = 0; i < query.length; i += 1) numbers[i] = rounded(query[i], scale);
    const out = this.#productsAt;
    for (let first = 0; first < scores.length; first += BLOCK_SLOTS) {
      if (first >= this.#blocks * BLOCK_SLOTS) break;
      const slots = Math.min(BLOCK_SLOTS, scores.length - first);
      kernel.products(0, this.#rowAt(first), this.#scaleAt(first), slots, this.#rowBytes, out);
      scores.set(new Float32Array(memory.buffer, out, slots), first);
    }
    for (let slot = 0; slot < scores.length; slot += 1) scores[slot] = (scores[slot] ?? 0) * scale;
  }

  /** See WordIndex. Slots only move down, so that a row is never written before it is read. */
  pack(moved: Int32Array): void {
    if (!this.#kernel) return;
    const { buffer } = this.#kernel.memory;
    const bytes = new Uint8Array(buffer);
    const known = this.#blocks * BLOCK_SLOTS;
    let kept = 0;
    for (const [slot, to] of moved.entries()) {
      if (to < 0) continue;
      // From here on no slot has a vector.
      if (slot >= known) break;
      kept = to + 1;
      const [row, scale] = [this.#rowAt(slot), this.#scaleAt(slot)];
      bytes.copyWithin(this.#rowAt(to), row, row + this.#rowBytes);
      bytes.copyWithin(this.#scaleAt(to), scale, scale + FLOAT_BYTES);
    }
    for (let slot = kept; slot < known; slot += 1) {
      new Float32Array(buffer, this.#scaleAt(slot), 1)[0] = 0;
    }
  }

  #expect(vector: Float32Array): void {
    if (this.#dimensions === 0) {
      this.#dimensions = vector.length;
      this.#rowBytes = Math.ceil(vector.length / ROW_STEP) * ROW_STEP;
    }
    if (vector.length === this.#dimensions) return;
    throw new Error(`a vector of ${vector.length} among those of ${this.#dimensions} dimensions`);
  }

  /** Room for the slot. */
  #reach(slot: number): KernelMemory {
    this.#kernel ??= newKernel();
    const { memory } = this.#kernel;
    const blocks = Math.floor(slot / BLOCK_SLOTS) + 1;
    if (blocks <= this.#blocks) return memory;
    const wanted = this.#rowAt(blocks * BLOCK_SLOTS) - memory.buffer.byteLength;
    if (wanted > 0) memory.grow(Math.ceil(wanted / WASM_PAGE_BYTES));
    this.#blocks = blocks;
    return memory;
  }

  get #productsAt(): number {
    return 2 * this.#rowBytes;
  }

  #rowAt(slot: number): number {
    const [block, place] = [Math.floor(slot / BLOCK_SLOTS), slot % BLOCK_SLOTS];
    const blockBytes = BLOCK_SLOTS * (this.#rowBytes + FLOAT_BYTES);
    const first = this.#productsAt + BLOCK_SLOTS * FLOAT_BYTES;
    return first + block * blockBytes + place * this.#rowBytes;
  }

  #scaleAt(slot: number): number {
    const place = slot % BLOCK_SLOTS;
    return this.#rowAt(slot - place) + BLOCK_SLOTS * this.#rowBytes + place * FLOAT_BYTES;
  }
}

function largest(vector: Float32Array): number {
  let found = 0;
  for (const value of vector) found = Math.max(found, Math.abs(value));
  return found;
}

function rounded(value = 0, scale: number): number {
  return Math.round(value / scale);
}
