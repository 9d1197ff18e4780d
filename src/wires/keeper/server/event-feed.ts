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
import { eventFrame } from "./event-message.ts";

export class EventFeed implements Feed {
  readonly #watch: Watch;
  readonly #isWanted: ((recorded: RecordedEvent) => boolean) | undefined;

  constructor(watch: Watch, isWanted?: (recorded: RecordedEvent) => boolean) {
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
      const frames = this.#framesOf(items);
      if (frames.length > 0) return frames;
    }
  }

  follow(take: (frames: Uint8Array) => boolean): Promise<void> {
    return this.#watch.follow((items) => {
      const frames = this.#framesOf(items);
      return frames.length === 0 || take(frames);
    });
  }

  close(): void {
    this.#watch.close();
  }

  #framesOf(items: readonly WatchItem[]): Uint8Array {
    return this.#isWanted ? framesOf(items, this.#isWanted) : sharedFrames(items);
  }
}

/** Watchers that are up to date are handed the very same items: their bytes are made once. */
function sharedFrames(items: readonly WatchItem[]): Buffer {
  const known = shared.get(items);
  if (known) return known;
  const frames = framesOf(items, () => true);
  shared.set(items, frames);
  return frames;
}

const shared = new WeakMap<readonly WatchItem[], Buffer>();

function framesOf(
  items: readonly WatchItem[],
  isWanted: (recorded: RecordedEvent) => boolean,
): Buffer {
  const frames = items.flatMap((item) => {
    switch (item.kind) {
      case "event":
        return isWanted(item.recorded) ? [eventFrame(item.recorded)] : [];
      case "bookmark":
        return [];
      case "resync": {
        const message =
          "the log no longer has all events since the requested sequence: read the state anew, " +
          `then watch from ${item.sequence}`;
        throw new RollcallError("OUT_OF_RANGE", message);
      }
    }
  });
  const [only] = frames;
  return only && frames.length === 1 ? only : Buffer.concat(frames);
}
