/**
 * A map of the last keys, so many of them. The oldest is known by its place in a ring: a map that
 * is asked for its first key looks for it among all those that it lost.
 */
export class RecentMap<Value> {
  readonly #kept: number;
  readonly #values = new Map<string, Value>();
  readonly #ring: string[] = [];
  #oldest = 0;

  constructor(kept: number) {
    this.#kept = kept;
  }

  get(key: string): Value | undefined {
    return this.#values.get(key);
  }

  /** Gives whether the key is new. */
  set(key: string, value: Value): boolean {
    const before = this.#values.size;
    this.#values.set(key, value);
    const isNew = this.#values.size > before;
    if (isNew) this.#forgetFor(key);
    return isNew;
  }

  #forgetFor(key: string): void {
    if (this.#ring.length < this.#kept) {
      this.#ring.push(key);
      return;
    }
    this.#values.delete(this.#ring[this.#oldest] ?? "");
    this.#ring[this.#oldest] = key;
    this.#oldest = (this.#oldest + 1) % this.#kept;
  }
}
