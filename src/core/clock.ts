/**
 * Time, as the engine gets it and as the engine tells it.
 *
 * The clock on the wall may step in either direction, so deadlines hang on the monotonic clock.
 * Times in events are wall times, but never fall: `EngineTime` follows the monotonic clock from
 * an anchor, steps forward when the wall is ahead (a machine that slept, a clock that was set), and
 * runs on undisturbed when the wall was set back. It tells of each step, so that no deadline is
 * reached by one. A step of more than a day is more likely a mistake, and would stay in the log for
 * good: it counts once it has lasted.
 */
import { DAY, MINUTE } from "./units.ts";

export interface Clock {
  /** Milliseconds since 1970; may step. */
  wallMs(): number;
  /** Milliseconds since some moment; never steps. */
  monotonicMs(): number;
  /** Calls once, later; returns how to cancel. A waiting timer keeps no process alive. */
  after(delayMs: number, call: () => void): () => void;
  /** Calls once, at the end of this turn of the loop: after all that sockets and timers brought. */
  soon(call: () => void): void;
}

/** A moment on both clocks. */
export interface Mark {
  readonly wallMs: number;
  readonly monotonicMs: number;
}

export function markOf(clock: Clock): Mark {
  return { wallMs: clock.wallMs(), monotonicMs: clock.monotonicMs() };
}

/** How long ago that was: a machine that sleeps may stop the one clock, but not the other. */
export function sinceMs(clock: Clock, mark: Mark): number {
  return Math.max(clock.monotonicMs() - mark.monotonicMs, clock.wallMs() - mark.wallMs);
}

/** How far the wall may be ahead before it counts as a step; ordinary corrections are smaller. */
const STEP_MS = 1000;
/** A step of more than this is believed only after it lasted for so long. */
const LARGE_STEP_MS = DAY;
const LASTING_MS = 10 * MINUTE;

export class EngineTime {
  readonly #clock: Clock;
  #offsetMs: number;
  #lastMs = 0;
  #steppedMs = 0;
  /** On the monotonic clock: since when the wall is more than a day ahead. */
  #farAheadSinceMs: number | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#offsetMs = clock.wallMs() - clock.monotonicMs();
  }

  /** Whole milliseconds since 1970; never falls. */
  nowMs(): number {
    const monotonicMs = this.#clock.monotonicMs();
    const aheadMs = this.#clock.wallMs() - monotonicMs - this.#offsetMs;
    if (aheadMs <= LARGE_STEP_MS) this.#farAheadSinceMs = undefined;
    else this.#farAheadSinceMs ??= monotonicMs;
    const isDoubtful = monotonicMs - (this.#farAheadSinceMs ?? -Infinity) < LASTING_MS;
    if (aheadMs > STEP_MS && !isDoubtful) this.#step(aheadMs);
    return this.quickMs();
  }

  #step(byMs: number): void {
    this.#offsetMs += byMs;
    this.#steppedMs += byMs;
    this.#farAheadSinceMs = undefined;
  }

  /** How far it stepped since this was asked last: time that nobody could use. */
  takeStepped(): number {
    const steppedMs = this.#steppedMs;
    this.#steppedMs = 0;
    return steppedMs;
  }

  /** The same without a look at the wall: for heartbeats, where that look would cost the most. */
  quickMs(): number {
    this.#lastMs = Math.max(this.#lastMs, Math.floor(this.#clock.monotonicMs() + this.#offsetMs));
    return this.#lastMs;
  }

  /** Time goes on from what the log says, even if this machine's wall is behind it. */
  catchUp(atMs: number): void {
    if (atMs > this.nowMs()) this.#offsetMs = atMs - this.#clock.monotonicMs();
  }
}
