/**
 * A batch of the committer: what goes to the log in one append, and who waits for it.
 *
 * A batch that was gathered while the disk was busy may be merged with those behind it.
 */
import type { RecordedEvent } from "../core/events.ts";
import type { StreamAppend } from "../log/streams.ts";

export interface PendingReply {
  readonly reply: unknown;
  readonly resolve: (reply: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** Gathers the entries of one stream. */
export interface StreamWriter {
  readonly stream: string;
  /** The batch closes: gives what was gathered, at least one entry, and begins anew. */
  take(): readonly string[];
  /** The entries of the oldest batch that was not told of yet are durable. */
  onDurable(): void;
}

export interface Batch {
  readonly recorded: RecordedEvent[];
  readonly waiters: PendingReply[];
  /** Called in order when it is durable, before the writers are told. */
  readonly calls: (() => void)[];
  /** Writers still gathering; when the batch is closed their entries are in `streams`. */
  readonly writers: Set<StreamWriter>;
  readonly streams: StreamAppend[];
  /** The writers of these, in that order. */
  readonly written: StreamWriter[];
  /** Of the stream entries alone. */
  streamBytes: number;
  bytes: number;
  /** When its first event was added. */
  openedAtMs: number;
}

/** Of one character as UTF-8. */
export const MOST_BYTES = 3;

/** No more than it can have. */
export function mostBytes({ bytes, streamBytes }: Batch): number {
  return MOST_BYTES * (bytes + streamBytes);
}

export function merged(batches: readonly Batch[]): Batch {
  const [first] = batches;
  if (first && batches.length === 1) return first;
  return {
    recorded: batches.flatMap(({ recorded }) => recorded),
    waiters: batches.flatMap(({ waiters }) => waiters),
    calls: batches.flatMap(({ calls }) => calls),
    writers: new Set(),
    streams: eachOnce(batches.flatMap(({ streams }) => streams)),
    written: batches.flatMap(({ written }) => written),
    streamBytes: batches.reduce((sum, { streamBytes }) => sum + streamBytes, 0),
    bytes: batches.reduce((sum, { bytes }) => sum + bytes, 0),
    openedAtMs: first?.openedAtMs ?? 0,
  };
}

export function emptyBatch(): Batch {
  return {
    recorded: [],
    waiters: [],
    calls: [],
    writers: new Set(),
    streams: [],
    written: [],
    streamBytes: 0,
    bytes: 0,
    openedAtMs: 0,
  };
}

/** Batches that are merged may have two appends for one stream; the log takes one. */
function eachOnce(appends: readonly StreamAppend[]): StreamAppend[] {
  const byStream = new Map<string, StreamAppend>();
  for (const append of appends) {
    const { stream, entries } = append;
    const before = byStream.get(stream);
    byStream.set(stream, before ? { stream, entries: [...before.entries, ...entries] } : append);
  }
  return [...byStream.values()];
}

export function isEmpty({ recorded, writers }: Batch): boolean {
  return recorded.length === 0 && writers.size === 0;
}
