/**
 * A stream of events, as a transport takes it: bytes for the asking, and an error for every end.
 *
 *   next ──▶ events ──▶ next …
 *     │ too slow: SLOW_CONSUMER    the log no longer reaches back: OUT_OF_RANGE
 *     └ the engine closes: UNAVAILABLE
 *
 * There is no message for "start over", so a watcher whose place is gone is told and let go.
 */
import { RollcallError } from "../../../core/errors.ts";
import type { RecordedEvent } from "../../../core/events.ts";
import type { Watch, WatchItem } from "../../../engine/watch.ts";
import type { Feed } from "../../../net/grpc/service.ts";
import { eventFrame, eventFrames } from "./event-message.ts";

export class EventFeed implements Feed {
  readonly #watch: Watch;
  readonly #isWanted: (recorded: RecordedEvent) => boolean;

  constructor(watch: Watch, isWanted: (recorded: RecordedEvent) => boolean = () => true) {
    this.#watch = watch;
    this.#isWanted = isWanted;
  }

  get cut(): AbortSignal {
    return this.#watch.cut;
  }

  async next(): Promise<Uint8Array> {
    for (;;) {
      const items = await this.#watch.pull();
      if (items.length === 0) throw new RollcallError("UNAVAILABLE", "this node is closing");
      const events = items.flatMap((item) => this.#wanted(item));
      const [first] = events;
      if (first) return events.length === 1 ? eventFrame(first) : eventFrames(events);
    }
  }

  close(): void {
    this.#watch.close();
  }

  #wanted(item: WatchItem): readonly RecordedEvent[] {
    switch (item.kind) {
      case "event":
        return this.#isWanted(item.recorded) ? [item.recorded] : [];
      case "bookmark":
        return [];
      case "resync": {
        const message =
          "the log no longer has all events since the requested sequence: read the state anew, " +
          `then watch from ${item.sequence}`;
        throw new RollcallError("OUT_OF_RANGE", message);
      }
    }
  }
}
