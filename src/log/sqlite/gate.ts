/**
 * Node stops its threads wherever they are when the process exits, and a thread that is stopped
 * inside SQLite takes the process down with an abort (seen on Node 20). So the thread passes this
 * gate on its way into SQLite, and the exit of the process shuts it first.
 *
 *          enter            leave
 *   free ─────────▶ inside ───────▶ free ──── shut ────▶ shut, for good
 */
const FREE = 0;
const INSIDE = 1;
const SHUT = 2;

/** A disk that takes longer than this is not waited for. */
const SHUT_WITHIN_MS = 5000;

export class Gate {
  readonly buffer: SharedArrayBuffer;
  readonly #state: Int32Array;

  constructor(buffer = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)) {
    this.buffer = buffer;
    this.#state = new Int32Array(buffer);
  }

  /** False when the process exits and nothing is to be begun. */
  enter(): boolean {
    return Atomics.compareExchange(this.#state, 0, FREE, INSIDE) === FREE;
  }

  leave(): void {
    Atomics.store(this.#state, 0, FREE);
    Atomics.notify(this.#state, 0);
  }

  /** Waits for who is inside; blocks the thread that calls it. */
  shut(): void {
    const deadlineMs = performance.now() + SHUT_WITHIN_MS;
    while (Atomics.compareExchange(this.#state, 0, FREE, SHUT) === INSIDE) {
      const leftMs = deadlineMs - performance.now();
      if (leftMs <= 0) return;
      Atomics.wait(this.#state, 0, INSIDE, leftMs);
    }
  }
}
