/** The numbers that the stores of clusters share, each with its reason. */

export const WRITER = {
  /** Of appends to streams alone that wait for the one before them. */
  waitingBytes: 64 << 20,
  /** Streams that are trimmed or removed in one turn. */
  forgetStreams: 512,
} as const;

export const RETRY = {
  /** Between two tries; each waits twice as long as the one before. */
  pauseMs: 20,
  mostMs: 500,
} as const;

export const SNAPSHOT = {
  /** A piece as it is written: an append beside it waits for no more. */
  chunkBytes: 256 << 10,
  /** Beside appends: unthrottled, a snapshot of 100 MB makes them ten times as slow. */
  bytesPerS: 8 << 20,
} as const;
