/** How the client of the keeper wire paces itself, each number with its reason. */
import { SECOND } from "../../../core/units.ts";

export const PACE = {
  /** For one answer: a daemon that runs answers in milliseconds, one that restarts in seconds. */
  answerMs: 10 * SECOND,
  /** For a last word (release, resign, deregister): time does the same, only later. */
  farewellMs: 2 * SECOND,
  /** A third of the ttl leaves room for two that are lost before anything is. */
  renewAt: 1 / 3,
  /** Of the wait between two: so that a thousand agents do not speak at once. */
  jitter: 0.15,
  /** After one that failed: a tenth of the ttl, but no longer than this. */
  againMs: 1 * SECOND,
  /**
   * The margin by which we give up before the daemon does: clocks of two machines drift apart, and
   * a holder needs a moment to stop.
   */
  margin: 0.05,
  leastMarginMs: 50,
  /** How often held things are looked at: a machine that slept wakes with its timers behind. */
  watchdogMs: 1 * SECOND,
  /** A caller that waits for a lease is woken by events; this is for when none can come. */
  waitAgainMs: 30 * SECOND,
  firstRetryMs: 50,
  lastRetryMs: 2 * SECOND,
  /** For tasks under way to finish when a worker stops. */
  graceMs: 10 * SECOND,
} as const;
