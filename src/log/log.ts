/**
 * The log: the ordered, durable record of everything that happened, and the contract that every
 * store keeps. `conformance.ts` is this page as a test-suite; a store that passes it may carry an
 * engine.
 *
 * - Entries are well-formed text (one event each, encoded by the engine; never a raw newline,
 *   which is refused with INVALID_ARGUMENT) and have sequences 1, 2, 3, … with no gap. The head
 *   is the sequence of the last one, 0 when there is none.
 * - The mark moves with every append where others may write, with those of nothing too; where
 *   none may it is the head. Head and mark together are a position.
 * - `append(batch, at, { id })` writes entries of the log and of streams (see streams.ts)
 *   together, all or nothing. When it resolves, they are durable and readable, and it gives the
 *   position right after them. It rejects with FENCED when the head or the mark is not that of
 *   `at`, or the head of a stream is not the one its part expects; with LIMIT_EXCEEDED above
 *   `limits.appendBytes`.
 * - Every append has an id of its own, drawn by the caller. A store that lost the answer to an
 *   append repeats it under its id until it knows the outcome. After `withinMs` it rejects with
 *   OUTCOME_UNKNOWN: the batch may be written, now or later; where no other process may write, not
 *   later than the next read or `open` gives what is there. After any other rejection it was not
 *   written and never will be.
 * - An append of an id that stands right after `at.head` is there already: it is not written
 *   again and answers with its position. One without entries of the log is known again only until
 *   the next append.
 * - A batch with no entries of the log moves no head, and followers see it as an empty batch.
 *   With no entries at all it is a sign of life: it checks the position, and that is how a leader
 *   proves that it still leads without filling the log. A slow follower may see several as one.
 * - `read(after, afterId)` gives what is durable now, in order, from `after + 1` to the head of
 *   the moment it began, then ends. It rejects with OUT_OF_RANGE when those entries were
 *   truncated.
 * - `follow(after, afterId, signal)` is `read` that goes on: it waits for more, and ends when the
 *   signal aborts or the log closes.
 * - Batches are chained by the ids of their appends, so a reader notices that the log is not the
 *   one it read before (a backup was restored, a standby without the last appends took over):
 *   both reject with DIVERGED when the entry `after` is not there, or not by the append
 *   `afterId`. An empty id is one that nobody knows (the log was empty, or is older than ids): it
 *   is not compared.
 * - A batch of either never ends inside an append: a reader sees whole commands only.
 * - `saveSnapshot` stores a state as of a sequence, beside the entries; one that was cut off
 *   half-way does not exist; one at the same sequence takes its place. A snapshot never changes
 *   what `read` gives. Above the head it is refused with INVALID_ARGUMENT, below what was
 *   truncated with OUT_OF_RANGE.
 * - `truncate(through)` forgets the entries up to and including `through`, and the snapshots
 *   before it. It refuses with WRONG_STATE when no snapshot stands at or after `through`: what
 *   would be lost could not be rebuilt.
 * - Appends are called one at a time; every other call may run beside them.
 * - Before `open` and after `close` every call rejects with WRONG_STATE.
 */
import type { StreamAppend } from "./streams.ts";

export interface Log {
  /**
   * Whether another process can append to it. Then leadership must be proved again and again; else
   * the process that has it open is the only writer.
   */
  readonly shared: boolean;
  readonly limits: LogLimits;
  /** Of an open log, where the store knows them. */
  readonly programs?: LogPrograms | undefined;
  /** Of a shared log, where this machine has one. */
  readonly mirror?: LogMirror | undefined;

  /**
   * Opens the store and checks it; every other call comes after. Called again it gives the range of
   * now, and starts anew what failed (rejected with UNAVAILABLE): recovering is opening once more.
   */
  open(): Promise<LogRange>;
  append(batch: AppendBatch, at: LogPosition, options: AppendOptions): Promise<LogPosition>;
  read(after: number, afterId?: string): AsyncIterable<LogBatch>;
  follow(after: number, afterId: string | undefined, signal: AbortSignal): AsyncIterable<LogBatch>;
  saveSnapshot(snapshot: Snapshot): Promise<void>;
  /** The newest snapshot whose sequence is not above `atOrBefore`. */
  loadSnapshot(atOrBefore: number): Promise<StoredSnapshot | undefined>;
  truncate(through: number): Promise<void>;
  /** Idempotent. Pending calls finish or reject first. */
  close(): Promise<void>;
}

/**
 * A copy of the end of a shared log on this machine, which `read` uses by itself. Snapshots in it
 * are for this node alone: `loadSnapshot` knows nothing of them.
 */
export interface LogMirror {
  /** The newest in it; whatever is wrong with that one, the log has others. */
  newest(): Promise<StoredSnapshot | undefined>;
  /** Keeps one in it; false where it has not come so far, and then no chunk was taken. */
  keep(snapshot: Snapshot): Promise<boolean>;
  /** It cannot be used: it is made anew. */
  discard(why: unknown): Promise<void>;
}

/** Names and versions. */
export interface LogPrograms {
  /** The one that wrote last before the log was opened. */
  readonly last: string;
  /** This one. */
  readonly own: string;
}

export interface LogLimits {
  /** Of all entries of one append, those of streams too, as UTF-8. */
  readonly appendBytes: number;
}

/** Where an append goes, and where the log stands after it. */
export interface LogPosition {
  readonly head: number;
  /** Moves with every append, signs of life too, where others may write. */
  readonly mark: number;
}

export interface AppendOptions {
  /** Of no other append to this log. */
  readonly id: string;
  /** How long the store tries to learn the outcome; `LOG.appendWithinMs` when absent. */
  readonly withinMs?: number;
}

export interface LogRange extends LogPosition {
  /** The sequence of the first entry that can still be read; `head + 1` when there is none. */
  readonly oldest: number;
  /** Drawn once, when the log began. */
  readonly logId: string;
  /** Of the append that wrote the head; empty when there is none. */
  readonly lastId: string;
  /** Of what the entries say, where the store keeps it. */
  readonly format?: number;
  /** Given where entries may have been lost: no fence of any append, lost or not, was above it. */
  readonly floor?: number;
}

/** Entries of the log and of streams that are written together. */
export interface AppendBatch {
  readonly entries: readonly string[];
  readonly streams?: readonly StreamAppend[];
  /**
   * No token and no term that these entries hand out is above it. A store that can lose entries
   * keeps it elsewhere, so that what is handed out later is above what was lost.
   */
  readonly fence?: number;
}

/** Entries that stand together: the first has sequence `first`, and so on. */
export interface LogBatch {
  readonly first: number;
  readonly entries: readonly string[];
  /** Right after its last entry; of an empty batch, that of now. */
  readonly mark: number;
  /** Of the append that wrote its last entry. */
  readonly id: string;
  /** Of the append that wrote the entry before `first`: the same one, if it begins inside it. */
  readonly previous: string;
}

export interface Snapshot {
  readonly sequence: number;
  /** The state in pieces of text, each small enough to write without holding up an append. */
  readonly chunks: AsyncIterable<string> | Iterable<string>;
}

export interface StoredSnapshot extends Snapshot {
  /** Of the append that wrote the entry at its sequence; empty when there is none. */
  readonly id: string;
}
