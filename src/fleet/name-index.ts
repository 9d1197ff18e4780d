/** Items by their name. Most names have one item: that costs no set. */

export class NameIndex<Item extends object> {
  readonly #only = new Map<string, Item>();
  /** Of names that more than one had at once. */
  readonly #several = new Map<string, Set<Item>>();

  of(name: string): Iterable<Item> {
    const only = this.#only.get(name);
    return only ? [only] : (this.#several.get(name) ?? []);
  }

  add(name: string, item: Item): void {
    const several = this.#several.get(name);
    const only = this.#only.get(name);
    if (several) several.add(item);
    else if (!only) this.#only.set(name, item);
    else if (only !== item) {
      this.#only.delete(name);
      this.#several.set(name, new Set([only, item]));
    }
  }

  delete(name: string, item: Item): void {
    if (this.#only.get(name) === item) this.#only.delete(name);
    const several = this.#several.get(name);
    if (several?.delete(item) && several.size === 0) this.#several.delete(name);
  }
}
