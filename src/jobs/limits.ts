/** The bounds of the job service, with their reasons. What reaches one is refused by name. */

export const STREAM = {
  /** Trimming costs a transaction, so it waits until it is worth it. */
  trimEntries: 4_096,
  /** Streams of forgotten jobs are removed together, if need be at the next sweep: it costs a sync. */
  removedAtOnce: 256,
  /** Read at a start beside each other: enough to keep the disk busy, few enough to hold. */
  foundAtOnce: 64,
} as const;

export const CREDENTIALS = {
  issueMs: 4_000,
  revokeMs: 10_000,
  /** Between tries of a revocation that failed: doubled from the first to the last. */
  firstRetryMs: 1_000,
  lastRetryMs: 300_000,
  revokesAtOnce: 8,
} as const;
