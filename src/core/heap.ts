/**
 * A binary heap whose slots know their place, so that one can be taken out in
 * O(log n) when its lease is released long before its time.
 *
 * Used for deadlines, a slot may come up early: what it guards moves its own deadline later (a
 * heartbeat, a renewal) without touching the heap, and the taker of the slot looks at the true
 * deadline and puts it back. So a heartbeat costs nothing here, and each slot moves once per ttl.
 */

export interface Slot<T> {
  at: number;
  readonly value: T;
  /** Its place in the heap; -1 when it is in none. */
  place: number;
}

export class Heap<T> {
  readonly #heap: Slot<T>[] = [];

  get size(): number {
    return this.#heap.length;
  }

  /** The place in time, or in a queue, of the first; undefined when there is none. */
  nextAt(): number | undefined {
    return this.#heap[0]?.at;
  }

  first(): T | undefined {
    return this.#heap[0]?.value;
  }

  add(at: number, value: T): Slot<T> {
    const slot: Slot<T> = { at, value, place: this.#heap.length };
    this.#heap.push(slot);
    this.#rise(slot);
    return slot;
  }

  /** Sets where a slot stands, whether or not it was in the heap. */
  move(slot: Slot<T>, at: number): void {
    this.remove(slot);
    slot.at = at;
    slot.place = this.#heap.length;
    this.#heap.push(slot);
    this.#rise(slot);
  }

  remove(slot: Slot<T>): void {
    const place = slot.place;
    if (place < 0) return;
    slot.place = -1;
    const last = this.#heap.pop();
    if (last === undefined || last === slot) return;
    this.#put(last, place);
    this.#rise(last);
    this.#sink(last);
  }

  /** Takes out the first slot if it stands at or before `now`. */
  takeDue(now: number): Slot<T> | undefined {
    const first = this.#heap[0];
    if (first === undefined || first.at > now) return undefined;
    this.remove(first);
    return first;
  }

  /** All, the first first; takes none out. */
  *inOrder(): Generator<T> {
    const reached = new Heap<number>();
    const reach = (place: number): void => {
      const slot = this.#heap[place];
      if (slot) reached.add(slot.at, place);
    };
    reach(0);
    for (let next = reached.takeDue(Infinity); next; next = reached.takeDue(Infinity)) {
      const slot = this.#heap[next.value];
      if (slot) yield slot.value;
      reach(2 * next.value + 1);
      reach(2 * next.value + 2);
    }
  }

  #rise(slot: Slot<T>): void {
    let place = slot.place;
    while (place > 0) {
      const above = (place - 1) >> 1;
      const parent = this.#heap[above];
      if (parent === undefined || parent.at <= slot.at) break;
      this.#put(parent, place);
      place = above;
    }
    this.#put(slot, place);
  }

  #sink(slot: Slot<T>): void {
    const size = this.#heap.length;
    let place = slot.place;
    for (;;) {
      const left = 2 * place + 1;
      if (left >= size) break;
      const leftSlot = this.#heap[left];
      const rightSlot = this.#heap[left + 1];
      const isRightFirst =
        rightSlot !== undefined && leftSlot !== undefined && rightSlot.at < leftSlot.at;
      const child = isRightFirst ? rightSlot : leftSlot;
      if (child === undefined || child.at >= slot.at) break;
      this.#put(child, place);
      place = isRightFirst ? left + 1 : left;
    }
    this.#put(slot, place);
  }

  #put(slot: Slot<T>, place: number): void {
    this.#heap[place] = slot;
    slot.place = place;
  }
}

export function earliest(...times: readonly (number | undefined)[]): number | undefined {
  let first: number | undefined;
  for (const time of times) {
    if (time !== undefined && (first === undefined || time < first)) first = time;
  }
  return first;
}
