/**
 * A map of the last keys, so many of them. The oldest is known by its place in a ring: a map that
 * is asked for its first key looks for it among all those that it lost. Made with the first key:
 * of ten thousand sessions most have none.
 */
export class RecentMap<Value> {
  readonly #kept: number;
  #values: Map<string, Value> | undefined;
  #ring: string[] | undefined;
  #oldest = 0;

  constructor(kept: number) {
    this.#kept = kept;
  }

  get(key: string): Value | undefined {
    return this.#values?.get(key);
  }

  /** Gives whether the key is new. */
  set(key: string, value: Value): boolean {
    const values = (this.#values ??= new Map<string, Value>());
    const before = values.size;
    values.set(key, value);
    const isNew = values.size > before;
    if (isNew) this.#forgetFor(key, values);
    return isNew;
  }

  #forgetFor(key: string, values: Map<string, Value>): void {
    const ring = (this.#ring ??= []);
    if (ring.length < this.#kept) {
      ring.push(key);
      return;
    }
    values.delete(ring[this.#oldest] ?? "");
    ring[this.#oldest] = key;
    this.#oldest = (this.#oldest + 1) % this.#kept;
  }
}
