/** The bounds of the job service, with their reasons. What reaches one is refused by name. */

export const STREAM = {
  /** Trimming costs a transaction: it waits until so many go, or as many as stay. */
  trimEntries: 4_096,
  /** Stay, however little is kept: to write down input and budget again is no reason to trim. */
  leastEntries: 3,
  /** Streams of forgotten jobs are removed together, at the latest at the next sweep. */
  removedAtOnce: 256,
  /** Read at a start beside each other: enough to keep the disk busy, few enough to hold. */
  foundAtOnce: 64,
  /** A stream with fewer entries is read from its beginning to its end, not at both. */
  readWhole: 64,
} as const;

export const CREDENTIAL_TIMES = {
  issueMs: 4_000,
  revokeMs: 10_000,
  /** Between tries of a revocation that failed: doubled from the first to the last. */
  firstRetryMs: 1_000,
  lastRetryMs: 300_000,
  revokesAtOnce: 8,
} as const;
