/** The last events, kept once for all watchers that are nearly up to date; bounded. */
import type { RecordedEvent } from "../core/events.ts";
import { WATCH } from "../core/limits.ts";

export class Recent {
  #events: RecordedEvent[] = [];
  /** Where the kept ones begin: dropping from the front of an array is dear, so it is put off. */
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
    this.#events = [];
    this.#start = 0;
    this.#bytes = 0;
  }

  /** Up to `max` events after `sequence`, which must not be before the first. */
  after(sequence: number, max: number): readonly RecordedEvent[] {
    const from = this.#start + (sequence + 1 - this.first);
    return this.#events.slice(from, from + max);
  }

  #trim(): void {
    while (
      this.#events.length - this.#start > WATCH.recentEvents ||
      (this.#bytes > WATCH.recentBytes && this.#events.length - this.#start > 1)
    ) {
      this.#bytes -= this.#events[this.#start]?.text.length ?? 0;
      this.#start += 1;
    }
    if (this.#start > WATCH.recentEvents) {
      this.#events = this.#events.slice(this.#start);
      this.#start = 0;
    }
  }
}
