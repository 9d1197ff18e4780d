/** The bounds of an outpost's end of the wire, each with its reason. */
import { KIB, MINUTE, SECOND } from "../../core/units.ts";

export const UPLINK = {
  /** Of one take: a daemon reads a body of 1 MiB. */
  takeBytes: 512 * KIB,
  /** Of one step, beyond which it is closed with the event that it has. */
  stepBytes: 128 * KIB,
  /** Changes within this time travel together; the first one does not wait. */
  gatherMs: 200,
  /** Beyond so many events the team is told how it is now, and not how it came about. */
  replayEvents: 10_000,
  /** Events without news for the team after which it is told where this log stands. */
  bookmarkEvents: 1_024,
  /** Soft facts (heartbeats, progress of jobs) are told so often where they moved. */
  sweepMs: 1 * MINUTE,
  /** A stream says something every 15 s: two of those missed is a dead one. */
  silenceMs: 40 * SECOND,
  /** Between tries to join: at once for a restart of the team's daemon, bounded for an absence. */
  firstRetryMs: 250,
  lastRetryMs: 5 * SECOND,
  /** The same where the team's daemon refuses: only a person can change that. */
  firstRefusedMs: 2 * SECOND,
  lastRefusedMs: 60 * SECOND,
  /** Where it says that it is too much. */
  limitedMs: 1 * SECOND,
  /** To say that it leaves. */
  farewellMs: 200,
} as const;
