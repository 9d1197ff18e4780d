/** "All leases of an agent" in O(1): a map from an owner to the set of what it has. */

export class IndexBy {
  readonly #sets = new Map<string, Set<string>>();

  add(owner: string, item: string): void {
    const set = this.#sets.get(owner);
    if (set) set.add(item);
    else this.#sets.set(owner, new Set([item]));
  }

  /** An owner with nothing left takes no room. */
  delete(owner: string, item: string): void {
    const set = this.#sets.get(owner);
    if (set?.delete(item) && set.size === 0) this.#sets.delete(owner);
  }

  of(owner: string): ReadonlySet<string> {
    return this.#sets.get(owner) ?? NOTHING;
  }
}

const NOTHING: ReadonlySet<string> = new Set();
