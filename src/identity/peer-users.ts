/**
 * The unix user behind a loopback connection. Asked once a connection; the tables are read once for
 * all that wait, and only so often, because a read costs the kernel time for every connection there
 * is.
 */
import type { Clock } from "../core/clock.ts";
import { linesOf, readConnections, type Ends, type Sought } from "./connections.ts";

export interface PeerUsersOptions {
  readonly clock: Clock;
  /** As `readConnections`; a test puts its own tables there. */
  readonly read?: typeof readConnections;
}

/** Reads a second that go on for ever, and as many at once. */
const READS = 10;
const REFILL_MS = 1_000 / READS;

interface Asker extends Sought {
  readonly resolve: (uid: number | undefined) => void;
}

export class PeerUsers {
  readonly #clock: Clock;
  readonly #read: typeof readConnections;
  #askers: Asker[] = [];
  #isReading = false;
  #tokens = READS;
  #refilledMs: number;

  constructor({ clock, read = readConnections }: PeerUsersOptions) {
    this.#clock = clock;
    this.#read = read;
    this.#refilledMs = clock.monotonicMs();
  }

  /** Undefined where no process has the other end any more, or the tables cannot be read. */
  userOf(ends: Ends): Promise<number | undefined> {
    return new Promise((resolve) => {
      this.#askers.push({ lines: linesOf(ends), resolve });
      if (!this.#isReading) void this.#readAll();
    });
  }

  async #readAll(): Promise<void> {
    this.#isReading = true;
    while (this.#askers.length > 0) {
      await this.#turn();
      const askers = this.#askers;
      this.#askers = [];
      await this.#answer(askers);
    }
    this.#isReading = false;
  }

  /** An answer rests on a read that began after the question. */
  async #answer(askers: readonly Asker[]): Promise<void> {
    const isRead = await this.#read(askers).then(
      () => true,
      () => false,
    );
    for (const { uid, resolve } of askers) resolve(isRead ? uid : undefined);
  }

  async #turn(): Promise<void> {
    const nowMs = this.#clock.monotonicMs();
    const earned = (nowMs - this.#refilledMs) / REFILL_MS;
    this.#tokens = Math.min(READS, this.#tokens + earned);
    this.#refilledMs = nowMs;
    if (this.#tokens >= 1) {
      this.#tokens -= 1;
      return;
    }
    const waitMs = (1 - this.#tokens) * REFILL_MS;
    await new Promise<void>((resolve) => void this.#clock.after(waitMs, resolve));
    this.#tokens = 0;
    this.#refilledMs = this.#clock.monotonicMs();
  }
}
