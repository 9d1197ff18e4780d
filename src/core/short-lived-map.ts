/**
 * A map of what comes and goes: calls under way, requests that are not whole yet.
 *
 * A Map of V8 that is full of deleted entries gets another table, and the old table keeps what was
 * in it then and points to its successor. Once one such table has grown old, collections of young
 * objects take all that follow it for alive, with every call that was under way at the change: they
 * all become old, collections take longer, and only a full one frees them. So this one begins a Map
 * of its own now and then, to which no table points.
 */

/** After so many deletions; or after as many as there are entries, so that copying stays cheap. */
const LEAST_DELETIONS = 64;

export class ShortLivedMap<Key, Value> {
  #map = new Map<Key, Value>();
  #deletions = 0;

  get size(): number {
    return this.#map.size;
  }

  get(key: Key): Value | undefined {
    return this.#map.get(key);
  }

  has(key: Key): boolean {
    return this.#map.has(key);
  }

  set(key: Key, value: Value): void {
    if (this.#deletions >= Math.max(LEAST_DELETIONS, this.#map.size)) {
      this.#map = new Map(this.#map);
      this.#deletions = 0;
    }
    this.#map.set(key, value);
  }

  delete(key: Key): void {
    if (this.#map.delete(key)) this.#deletions += 1;
  }

  clear(): void {
    this.#map = new Map();
    this.#deletions = 0;
  }

  /** The oldest first. What is added meanwhile may be left out. */
  entries(): IterableIterator<[Key, Value]> {
    return this.#map.entries();
  }

  values(): IterableIterator<Value> {
    return this.#map.values();
  }
}
