/**
 * Streams: the many small entries of one job (or one session) beside the log, in the same commit.
 * The log orders everything and is replayed at a start; a stream is only read when somebody asks
 * for that job. `Log.append` writes to streams together with the events that go with them; the
 * calls here stand alone, for a member of a cluster that runs a job and does not lead.
 *
 * - Entries of a stream have positions 1, 2, 3, … with no gap; trimming never renumbers. The head
 *   is the position of the last one, 0 when there was none.
 * - `append` is all or nothing. It resolves with the new head when its entries are durable. It
 *   rejects with FENCED, having written nothing, when `expectedHead` is given and is not the
 *   stream's head. An append of nothing checks the head and creates no stream.
 * - Appends to one stream are written in the order of the calls, those of `Log.append` among them.
 *   When the storage fails one, those to the same stream that wait behind it fail with it: no gap,
 *   no reordering. Appends that wait are written together: one sync for all of them.
 * - `read(stream, after)` gives what is durable now, in pages, and ends; a stream nobody wrote to
 *   is empty. It rejects with OUT_OF_RANGE when those entries were trimmed.
 * - `trim(stream, through)` forgets the entries up to `through`; `remove` whole streams, after
 *   which their positions start anew. Both come after the appends that were called before them. An
 *   append that is called before a removal has resolved may be removed with it.
 * - Before the log is open and after it is closed every call rejects with WRONG_STATE.
 */

export interface Streams {
  append(stream: string, entries: readonly string[], expectedHead?: number): Promise<number>;
  /** Several streams at once, all or nothing; resolves with the new head of each. */
  appendAll(appends: readonly StreamAppend[]): Promise<readonly number[]>;
  read(stream: string, after: number): AsyncIterable<StreamBatch>;
  range(stream: string): Promise<StreamRange>;
  /** The streams whose names begin with `prefix`, in order of name, by code point. */
  ranges(prefix: string): AsyncIterable<NamedRange>;
  trim(stream: string, through: number): Promise<void>;
  remove(...streams: readonly string[]): Promise<void>;
}

/** The part of an append that goes to one stream: at least one entry. No other part names it. */
export interface StreamAppend {
  readonly stream: string;
  readonly entries: readonly string[];
  /** Given, the whole append is FENCED unless it is the stream's head. */
  readonly expectedHead?: number;
}

/** Entries that stand together: the first has position `first`, and so on. */
export interface StreamBatch {
  readonly first: number;
  readonly entries: readonly string[];
}

export interface StreamRange {
  /** The position of the first entry still there; `head + 1` when there is none. */
  readonly oldest: number;
  readonly head: number;
}

export interface NamedRange extends StreamRange {
  readonly stream: string;
}
