/**
 * The log: the ordered, durable record of everything that happened, and the contract that every
 * store keeps. `conformance.ts` is this page as a test-suite; a store that passes it may carry an
 * engine.
 *
 * - Entries are well-formed text (one event each, encoded by the engine; never a raw newline, which
 *   is refused with INVALID_ARGUMENT) and have sequences 1, 2, 3, … with no gap. The head is the
 *   sequence of the last one, 0 when there is none.
 * - `append(batch, expectedHead)` writes entries of the log and of streams (see streams.ts)
 *   together, all or nothing. When it resolves, they are durable and readable. It rejects with
 *   FENCED, having written nothing, when the head is not the expected one, or that of a stream is
 *   not the one its part expects. Any other rejection leaves open whether the batch was written:
 *   read to find out.
 * - A batch with no entries of the log moves no head, and followers see it as an empty batch. With
 *   no entries at all it is a sign of life: it checks the head, and that is how a leader proves
 *   that it still leads without filling the log. A slow follower may see several as one.
 * - `read(after)` gives what is durable now, in order, from `after + 1` to the head of the moment
 *   it began, then ends. It rejects with OUT_OF_RANGE when those entries were truncated.
 * - `follow(after, signal)` is `read` that goes on: it waits for more, and ends when the signal
 *   aborts or the log closes.
 * - A batch of either never ends inside an append: a reader sees whole commands only.
 * - `saveSnapshot` stores a state as of a sequence, beside the entries; one that was cut off
 *   half-way does not exist; one at the same sequence takes its place. A snapshot never changes
 *   what `read` gives. Above the head it is refused with INVALID_ARGUMENT, below what was truncated
 *   with OUT_OF_RANGE.
 * - `truncate(through)` forgets the entries up to and including `through`, and the snapshots before
 *   it. It refuses with WRONG_STATE when no snapshot stands at or after `through`: what would be
 *   lost could not be rebuilt.
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
  /** Of an open log, where the store knows them. */
  readonly programs?: LogPrograms | undefined;

  /**
   * Opens the store and checks it; every other call comes after. Called again it gives the range of
   * now, and starts anew what failed (rejected with UNAVAILABLE): recovering is opening once more.
   */
  open(): Promise<LogRange>;
  append(batch: AppendBatch, expectedHead: number): Promise<void>;
  read(after: number): AsyncIterable<LogBatch>;
  follow(after: number, signal: AbortSignal): AsyncIterable<LogBatch>;
  saveSnapshot(snapshot: Snapshot): Promise<void>;
  /** The newest snapshot whose sequence is not above `atOrBefore`. */
  loadSnapshot(atOrBefore: number): Promise<Snapshot | undefined>;
  truncate(through: number): Promise<void>;
  /** Idempotent. Pending calls finish or reject first. */
  close(): Promise<void>;
}

/** Names and versions. */
export interface LogPrograms {
  /** The one that wrote last before the log was opened. */
  readonly last: string;
  /** This one. */
  readonly own: string;
}

export interface LogRange {
  readonly head: number;
  /** The sequence of the first entry that can still be read; `head + 1` when there is none. */
  readonly oldest: number;
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
}

export interface Snapshot {
  readonly sequence: number;
  /** The state in pieces of text, each small enough to write without holding up an append. */
  readonly chunks: AsyncIterable<string> | Iterable<string>;
}
