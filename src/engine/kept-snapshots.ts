/**
 * Snapshots of a node that follows, in its mirror of the log (log/mirror): the next start of this
 * node replays no more than came after. Those of a leader are kept there on their way to the log.
 */
import { ENGINE } from "../core/limits.ts";
import { capture } from "../core/snapshot.ts";
import type { LogMirror, Snapshot } from "../log/log.ts";
import type { Replica } from "./replica.ts";

export class KeptSnapshots {
  readonly #mirror: LogMirror | undefined;
  readonly #everyEvents: number;
  readonly #onTrouble: (what: string, error: unknown) => void;
  #last: number | undefined;
  #isBusy = false;

  constructor(options: {
    readonly mirror: LogMirror | undefined;
    readonly everyEvents?: number | undefined;
    readonly onTrouble: (what: string, error: unknown) => void;
  }) {
    this.#mirror = options.mirror;
    this.#everyEvents = options.everyEvents ?? ENGINE.snapshotEveryEvents;
    this.#onTrouble = options.onTrouble;
  }

  /** The replica has come so far. */
  applied({ state, head }: Replica): void {
    const mirror = this.#mirror;
    if (!mirror || this.#isBusy) return;
    if (this.#last !== undefined && head - this.#last < this.#everyEvents) return;
    this.#isBusy = true;
    // Captured now: the state goes on.
    const work =
      this.#last === undefined
        ? this.#look(mirror)
        : this.#keep(mirror, { sequence: head, chunks: capture(state) });
    work
      .catch((error: unknown) => this.#onTrouble("could not keep a snapshot", error))
      .finally(() => {
        this.#isBusy = false;
      });
  }

  /** What an earlier start has left. */
  async #look(mirror: LogMirror): Promise<void> {
    this.#last = (await mirror.newest())?.sequence ?? 0;
  }

  /** Where it fails, too, the next is as far away: each costs a walk over the whole state. */
  async #keep(mirror: LogMirror, snapshot: Snapshot): Promise<void> {
    this.#last = snapshot.sequence;
    await mirror.keep(snapshot);
  }
}
