/** The numbers of the mirror, each with its reason. */

export const MIRROR = {
  /** Between two writes: many appends share a sync of the disk. A crash loses no more of it. */
  restMs: 250,
  /** After a failure, before the shared log is asked again. */
  retryMs: 5_000,
  /** Of what waits to be written; beyond it the mirror reads from the shared log later. */
  waitingBytes: 32 << 20,
  /** One that ends so far before the log is not worth its replay: a snapshot is newer. */
  tailEntries: 500_000,
  /** Empty entries in the place of those from before its beginning, a byte each. */
  padding: 1 << 20,
} as const;
