/**
 * The journal: many small ordered streams beside the log, for what is high in volume and belongs to
 * one job (its events). The log orders everything and is replayed at a start; a stream is only read
 * when somebody asks for that job.
 *
 * - Entries of a stream have positions 1, 2, 3, … with no gap; trimming never renumbers.
 * - `append` resolves with the position of its last entry when all of them are durable. Appends
 *   that arrive while one is being written are written together: one sync for all of them.
 * - Appends to one stream are written in the order of the calls, each all or nothing. When one
 *   rejects, those to the same stream that were waiting behind it reject too: no gap, no
 *   reordering.
 * - `appendAll` writes to several streams at once, all or nothing, and is ordered like any other
 *   append to each of them. It resolves with the position of the last entry of each.
 * - `read(stream, after)` gives what is durable now and ends; a stream nobody wrote to is empty. It
 *   rejects with OUT_OF_RANGE when those entries were trimmed.
 * - `trim(stream, through)` forgets the entries up to `through`; `remove` the whole stream, after
 *   which its positions start anew. Both come after the appends that were called before them.
 * - Before the log is open and after it is closed every call rejects with WRONG_STATE.
 */

export interface Journal {
  append(stream: string, entries: readonly string[]): Promise<number>;
  appendAll(appends: readonly JournalAppend[]): Promise<readonly number[]>;
  read(stream: string, after: number): AsyncIterable<JournalEntry>;
  range(stream: string): Promise<JournalRange>;
  trim(stream: string, through: number): Promise<void>;
  remove(stream: string): Promise<void>;
  /** The names of the streams that begin with `prefix`, in order of name, by code point. */
  streams(prefix: string): AsyncIterable<string>;
}

/** What goes to one stream of several; at least one entry, and each stream once. */
export interface JournalAppend {
  readonly stream: string;
  readonly entries: readonly string[];
}

export interface JournalEntry {
  readonly position: number;
  readonly entry: string;
}

export interface JournalRange {
  /** The position of the first entry still there; `head + 1` when there is none. */
  readonly oldest: number;
  readonly head: number;
}
