/** The bounds of connections and of what is sent, with their reasons. */
import { MIB } from "../../../core/units.ts";

export const OUTPUT = {
  /** Handed to a transport and not taken yet; beyond it events wait in the journal. */
  waitingBytes: 1 * MIB,
  /** A peer that asks and asks and never reads is let go here. */
  closeBytes: 8 * MIB,
  /** Sent and not acknowledged: kept for a client that may come back. */
  unackedEvents: 16_384,
  /** Unacknowledged events after which a client is told that it lags; again below half of it. */
  lagEvents: 1_000,
  /** Trimming costs a transaction. */
  trimEvents: 4_096,
  sweepMs: 15_000,
  /** Every so many spans it is remembered where a number stands in its stream. */
  markSpans: 1_024,
  /** Jobs whose pages are kept while frames are read back from the disk. */
  readJobs: 8,
} as const;

export const INPUT = {
  /** Frames that came while the token was looked at. */
  earlyFrames: 256,
  earlyBytes: 4 * MIB,
  /** Ids of frames remembered, so that one that comes twice counts once. */
  recentIds: 512,
  /** Submits of a session that are answered again when they are sent again. */
  recentSubmits: 256,
  /** Submits of one session that wait for a policy or for credentials. */
  waitingSubmits: 1_024,
} as const;

export const RESUME = {
  /** Wrong guesses of one principal at one session: so many at once, and then one a second. */
  guesses: 10,
  guessesPerSecond: 1,
  /** After a resume that its client may never have heard of, the token before it counts again. */
  unprovenMs: 5_000,
} as const;

export const SUBSCRIPTIONS = {
  perSession: 1_000,
  /** How long history waits for the Python client to have dealt with `job.subscribed`. */
  patienceMs: 1_000,
  /** Entries of a history that are numbered before the next ones are read. */
  read: 256,
  /** Until a store that could not be read is asked again. */
  againMs: 1_000,
} as const;
