/**
 * Snapshots bound how long a start takes, retention how much disk the log takes.
 *
 * A snapshot is captured at one moment and written behind the appends, piece by piece. The log is
 * only ever truncated at a snapshot, which stays: so every moment the log still reaches back to can
 * be rebuilt.
 */
import { ENGINE, RETENTION } from "../core/limits.ts";
import { capture, capturedAtMs } from "../core/snapshot.ts";
import type { State } from "../core/state.ts";
import type { Log, Snapshot } from "../log/log.ts";

export interface Retention {
  readonly maxAgeMs: number;
  readonly maxEvents: number;
  /** A snapshot is taken after this many events, or a day. */
  readonly snapshotEveryEvents: number;
}

export const DEFAULT_RETENTION: Retention = {
  maxAgeMs: RETENTION.logMs,
  maxEvents: RETENTION.logEvents,
  snapshotEveryEvents: ENGINE.snapshotEveryEvents,
};

export class Snapshots {
  readonly #log: Log;
  readonly #retention: Retention;
  #last = { sequence: 0, atMs: 0 };
  #isBusy = false;
  #isLooking = false;
  /** Written since the start. */
  count = 0;

  constructor(log: Log, retention: Retention) {
    this.#log = log;
    this.#retention = retention;
  }

  /**
   * A term begins: what is newer than the newest snapshot, whichever node took that, counts towards
   * the next one. None is due before that is known: to capture the state takes its time.
   */
  async start(nowMs: number): Promise<void> {
    this.#isLooking = true;
    try {
      const newest = await this.#log.loadSnapshot(Infinity);
      this.#last = {
        sequence: newest?.sequence ?? 0,
        atMs: newest ? await takenAtMs(newest) : nowMs,
      };
    } finally {
      this.#isLooking = false;
    }
  }

  isDue(head: number, nowMs: number): boolean {
    const events = head - this.#last.sequence;
    if (this.#isBusy || this.#isLooking || events <= 0) return false;
    return (
      events >= this.#retention.snapshotEveryEvents ||
      nowMs - this.#last.atMs >= ENGINE.snapshotEveryMs
    );
  }

  /** Captures now; writes once what was captured is durable, then lets go of what is too old. */
  async take(state: State, sequence: number, durable: Promise<unknown>): Promise<void> {
    this.#isBusy = true;
    const nowMs = state.lastAtMs;
    const chunks = capture(state);
    try {
      await durable;
      await this.#log.saveSnapshot({ sequence, chunks });
      this.#last = { sequence, atMs: nowMs };
      this.count += 1;
      await this.#letGo(sequence, nowMs);
    } finally {
      this.#isBusy = false;
    }
  }

  async #letGo(head: number, nowMs: number): Promise<void> {
    let snapshot = await this.#log.loadSnapshot(head);
    while (snapshot) {
      const { sequence } = snapshot;
      const isOld = (await takenAtMs(snapshot)) <= nowMs - this.#retention.maxAgeMs;
      if (isOld || sequence <= head - this.#retention.maxEvents) {
        await this.#log.truncate(sequence);
        return;
      }
      snapshot = await this.#log.loadSnapshot(sequence - 1);
    }
  }
}

/** When the state was captured. */
export async function takenAtMs(snapshot: Snapshot): Promise<number> {
  for await (const chunk of snapshot.chunks) return capturedAtMs(chunk);
  return 0;
}
