/**
 * A stream of events, as a transport takes it: bytes for the asking, and an error for every end.
 *
 *   next ──▶ events ──▶ next …
 *     │ too slow: SLOW_CONSUMER    the log no longer reaches back: OUT_OF_RANGE
 *     └ the engine closes: UNAVAILABLE
 *
 * There is no message for "start over", so a watcher whose place is gone is told and let go.
 */
import { RollcallError } from "../../core/errors.ts";
import type { Recorded } from "../../core/events.ts";
import type { Watch, WatchItem } from "../../engine/watch.ts";
import { eventBytes } from "./event-message.ts";

export class EventFeed {
  readonly #watch: Watch;
  readonly #isWanted: (recorded: Recorded) => boolean;

  constructor(watch: Watch, isWanted: (recorded: Recorded) => boolean = () => true) {
    this.#watch = watch;
    this.#isWanted = isWanted;
  }

  /** Aborts, with the reason, when the watcher is cut while its transport is busy. */
  get cut(): AbortSignal {
    return this.#watch.cut;
  }

  /** The next events, each as bytes; possibly none of them wanted. */
  async next(): Promise<readonly Uint8Array[]> {
    const items = await this.#watch.pull();
    if (items.length === 0) throw new RollcallError("UNAVAILABLE", "this node is closing");
    return items.flatMap((item) => this.#bytesOf(item));
  }

  close(): void {
    this.#watch.close();
  }

  #bytesOf(item: WatchItem): readonly Uint8Array[] {
    switch (item.kind) {
      case "event":
        return this.#isWanted(item.recorded) ? [eventBytes(item.recorded)] : [];
      case "bookmark":
        return [];
      case "resync": {
        const message =
          "the log cannot tell what happened since the sequence asked for: read the state anew, " +
          `then watch from ${item.sequence}`;
        throw new RollcallError("OUT_OF_RANGE", message);
      }
    }
  }
}
