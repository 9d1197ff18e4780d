/**
 * Bytes that come in pieces, kept in one buffer of their own. A piece is often a few bytes of a
 * large chunk that a socket read, and would keep all of it; and a thousand pieces of a byte would
 * be a thousand objects.
 */
const NOTHING = Buffer.alloc(0);

export class GatheredBytes {
  #buffer: Buffer = NOTHING;
  #length = 0;

  get length(): number {
    return this.#length;
  }

  push(piece: Uint8Array): void {
    const length = this.#length + piece.length;
    if (length > this.#buffer.length) {
      // Not from the pool that small buffers share: a few bytes would keep all of that.
      const larger = Buffer.allocUnsafeSlow(Math.max(length, 2 * this.#buffer.length));
      larger.set(this.#buffer.subarray(0, this.#length));
      this.#buffer = larger;
    }
    this.#buffer.set(piece, this.#length);
    this.#length = length;
  }

  /** All that came; what comes next begins anew. */
  take(): Buffer {
    const bytes = this.#buffer.subarray(0, this.#length);
    this.#buffer = NOTHING;
    this.#length = 0;
    return bytes;
  }
}
