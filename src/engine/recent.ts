/**
 * The last events, kept once for all watchers that are nearly up to date; bounded.
 *
 * What all of them have taken goes at once, but for a few. An event that is kept for seconds
 * outlives several collections of young objects and becomes an old one, which only a full
 * collection frees: at a thousand leases a second that is megabytes a second for nobody. For the
 * same reason an array names nothing that was dropped: once it is old itself, it makes old what it
 * names, also when nobody has the array any more.
 */
import type { RecordedEvent } from "../core/events.ts";
import { WATCH } from "../core/limits.ts";

export class Recent {
  readonly #events: (RecordedEvent | undefined)[] = [];
  /** Where the kept ones begin: they move to the front only when as many are dropped. */
  #start = 0;
  #bytes = 0;

  /** The sequence of the oldest event kept; Infinity when there is none. */
  get first(): number {
    return this.#events[this.#start]?.sequence ?? Infinity;
  }

  push(recorded: readonly RecordedEvent[]): void {
    for (const each of recorded) {
      this.#events.push(each);
      this.#bytes += each.text.length;
    }
    this.#trim();
  }

  clear(): void {
    if (this.#events.length === 0) return;
    this.#events.length = 0;
    this.#start = 0;
    this.#bytes = 0;
  }

  /** Up to `max` events after `sequence`, which must not be before the first. */
  after(sequence: number, max: number): readonly RecordedEvent[] {
    const from = this.#start + (sequence + 1 - this.first);
    return this.#events.slice(from, from + max).filter((each) => each !== undefined);
  }

  /** All watchers that are near have seen the events up to here. */
  seen(sequence: number): void {
    const through = Math.min(sequence, (this.#events.at(-1)?.sequence ?? 0) - WATCH.seenEvents);
    while (this.first <= through) this.#drop();
    this.#moveToFront();
  }

  #trim(): void {
    while (
      this.#count > WATCH.recentEvents ||
      (this.#bytes > WATCH.recentBytes && this.#count > 1)
    ) {
      this.#drop();
    }
    this.#moveToFront();
  }

  get #count(): number {
    return this.#events.length - this.#start;
  }

  #drop(): void {
    this.#bytes -= this.#events[this.#start]?.text.length ?? 0;
    this.#events[this.#start] = undefined;
    this.#start += 1;
  }

  #moveToFront(): void {
    if (this.#start <= Math.max(WATCH.seenEvents, this.#count)) return;
    this.#events.splice(0, this.#start);
    this.#start = 0;
  }
}
