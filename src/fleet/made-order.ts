/**
 * Rows in the order in which they were last made, for those who ask what changed since: the answer
 * costs as much as there is to tell. A list of links, because a row moves to its end each time it
 * is made, and a map that things leave and come back to is copied whole every so often.
 */

/** An item of the order, with its neighbours; only the order sets them. */
export interface OrderLinks<Item> {
  older: Item | undefined;
  newer: Item | undefined;
}

export class MadeOrder<Item extends OrderLinks<Item>> {
  #newest: Item | undefined;

  /** It was made just now. */
  add(item: Item): void {
    if (this.#newest === item) return;
    this.delete(item);
    item.older = this.#newest;
    if (this.#newest) this.#newest.newer = item;
    this.#newest = item;
  }

  delete(item: Item): void {
    if (this.#newest === item) this.#newest = item.older;
    if (item.older) item.older.newer = item.newer;
    if (item.newer) item.newer.older = item.older;
    item.older = undefined;
    item.newer = undefined;
  }

  /** The last made first. */
  *[Symbol.iterator](): Generator<Item> {
    for (let item = this.#newest; item; item = item.older) yield item;
  }
}
