/**
 * Heartbeats that wait for the card of a new agent to be fetched, so that their senders learn
 * whether it was. Each may wait long, but only so many at a time: a flood of invented agents whose
 * cards never come must not hold every connection. The ones beyond that wait for a moment.
 */
import { unlessLate } from "../machine/waiting.ts";
import type { Clock } from "../core/clock.ts";
import { WAITING } from "./limits.ts";

export interface WaitingRoomOptions {
  readonly clock: Pick<Clock, "after">;
  /** How long the fetch may take. */
  readonly fetchTimeoutMs: number;
}

export class WaitingRoom {
  readonly #clock: Pick<Clock, "after">;
  readonly #longMs: number;
  /** How many wait long. */
  #patient = 0;

  constructor({ clock, fetchTimeoutMs }: WaitingRoomOptions) {
    this.#clock = clock;
    this.#longMs = Math.min(fetchTimeoutMs, WAITING.longestMs);
  }

  /** Resolves when the work is done, or the caller has waited long enough. */
  async wait(work: Promise<unknown>): Promise<void> {
    if (this.#patient >= WAITING.most) {
      await unlessLate(this.#clock, WAITING.shortMs, work);
      return;
    }
    this.#patient += 1;
    try {
      await unlessLate(this.#clock, this.#longMs, work);
    } finally {
      this.#patient -= 1;
    }
  }
}
