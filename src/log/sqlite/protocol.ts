/**
 * Shared by the main thread and the SQLite thread: the calls from one to the other, one at a time,
 * in order, and the gate. Entries that stand together are sent as one text: few large strings cross
 * in half the time of many small ones. The file has them as UTF-8 bytes: a blob may hold a zero
 * character, which SQLite's text may not. They are encoded and decoded over there: that is work the
 * main thread need not do, and bytes that cross are garbage outside of the heap, which V8 is slow
 * to collect.
 */
import type { ErrorCode } from "../../core/errors.ts";
import { joinEntries } from "../entries.ts";
import type { AppendBatch, LogRange } from "../log.ts";
import type { NamedRange, StreamRange } from "../streams.ts";
import type { BackupFacts } from "./backup.ts";

/** The most that one message carries (but at least one batch): fast to read, short to wait for. */
export const PAGE_BYTES = 1 << 20;
/** Chunks of a snapshot are written together up to here: a commit of a few milliseconds. */
export const SNAPSHOT_BYTES = 256 << 10;
/** The most that may wait to be written to streams; beyond it the producers outrun the disk. */
export const WAITING_BYTES = 64 << 20;

export interface Operations {
  open(options: OpenOptions): Promise<OpenedFile>;
  /** By a thread of its own: checks the pages of a file that another thread has open. */
  checkBeside(path: string): Promise<void>;
  range(): LogRange;
  commit(commit: Commit): CommitResult;
  readLog(span: Span): Decoded<LogPage> | undefined;
  /** The append that wrote an entry of the log; undefined when there is no such entry. */
  idAt(sequence: number): string | undefined;
  truncate(through: number): void;

  beginSnapshot(sequence: number): number;
  addChunks(chunks: SnapshotChunks): void;
  finishSnapshot(id: number): void;
  dropSnapshot(id: number): void;
  findSnapshot(atOrBefore: number): SavedSnapshot | undefined;
  readChunks(chunks: { readonly id: number; readonly from: number }): readonly string[];

  readStream(read: { readonly stream: string; readonly span: Span }): DecodedStreamPage;
  rangeOfStream(stream: string): StreamRange;
  listStreams(list: { readonly prefix: string; readonly after: string }): readonly NamedRange[];

  /** By a reader: writes a backup. */
  backup(backup: BackupRequest): Promise<BackupFacts>;
  /** Reads and checks all of the file. */
  verify(): LogRange;
  /** Writes the file anew, without the room of what was forgotten. */
  compact(): void;
  /** No program opens the file again: the log is where this URL leads. */
  markMoved(to: string): void;

  /** Deletes a bounded piece of what was forgotten; false when there is nothing left to delete. */
  sweep(): boolean;
  close(): void;
}

export interface BackupRequest {
  readonly target: string;
  readonly madeBy: string;
  readonly madeAtMs: number;
  readonly floor: number;
  /** Of the log that the file is a copy of; absent: its own. */
  readonly logId?: string;
}

export interface OpenOptions {
  readonly path: string;
  readonly writtenBy: string;
  readonly isReader: boolean;
}

export interface OpenedRange extends LogRange {
  /** The program that wrote last. */
  readonly lastWriter: string;
}

export interface OpenedFile extends OpenedRange {
  /** Whether its pages are left to be checked. */
  readonly isUnchecked: boolean;
}

/** One transaction: the appends in the order of the calls, then what is forgotten. */
export interface Commit {
  readonly appends: readonly Append[];
  readonly forgets: readonly Forget[];
}

/** All or nothing: nothing of it is written when a head is not the expected one. */
export interface Append {
  /** For the log: so many entries, as one text. */
  readonly text: string;
  readonly count: number;
  /** Of the log; of no matter to an append to streams alone. */
  readonly at: AppendPlace | undefined;
  /** No token and no term in it is above this. */
  readonly fence: number;
  readonly streams: StreamBlocks;
}

/** The head that the log must have, and the id of the append. */
export interface AppendPlace {
  readonly head: number;
  readonly id: string;
}

/** For streams, one index each: lists cross to the thread faster than objects. */
export interface StreamBlocks {
  readonly names: readonly string[];
  readonly texts: readonly string[];
  readonly counts: readonly number[];
  readonly expectedHeads: readonly (number | undefined)[];
}

/** Refuses entries that have a raw newline. */
export function appendOf(batch: AppendBatch, at?: AppendPlace): Append {
  const { entries, streams = [], fence = 0 } = batch;
  return {
    text: joinEntries(entries),
    count: entries.length,
    at,
    fence,
    streams: {
      names: streams.map(({ stream }) => stream),
      texts: streams.map((append) => joinEntries(append.entries)),
      counts: streams.map((append) => append.entries.length),
      expectedHeads: streams.map((append) => append.expectedHead),
    },
  };
}

export interface CommitResult {
  /** Of the appends. */
  readonly outcomes: readonly AppendOutcome[];
  /** Whether something that was forgotten is left to the sweep. */
  readonly isUnswept: boolean;
}

export interface AppendOutcome {
  /** Why an append was refused, when it was. */
  readonly fenced?: string;
  /** The new head of each stream of an append to streams alone. */
  readonly heads: readonly number[];
}

export interface Forget {
  readonly streams: readonly string[];
  /** Up to and including here; without it the streams are removed. */
  readonly through: number | undefined;
}

/** After `after`, up to and including `through`. */
export interface Span {
  readonly after: number;
  readonly through: number;
}

/** Whole batches joined by newlines, so the first may begin before what was asked for. */
export interface Page {
  readonly first: number;
  readonly last: number;
  readonly bytes: Uint8Array;
}

/** As it crosses to the main thread. */
export type Decoded<P extends Page> = Omit<P, "bytes"> & { readonly text: string };

/** Of the log: with the append that wrote its last entry, and the one before what was asked for. */
export interface LogPage extends Page {
  readonly id: string;
  readonly previous: string;
}

export interface StreamPage extends StreamRange {
  readonly page: Page | undefined;
}

export interface DecodedStreamPage extends StreamRange {
  readonly page: Decoded<Page> | undefined;
}

export interface SnapshotChunks {
  readonly id: number;
  /** The index of the first one. */
  readonly from: number;
  readonly chunks: readonly string[];
}

export interface SavedSnapshot {
  /** Its number in the file. */
  readonly id: number;
  readonly sequence: number;
  readonly chunks: number;
}

export type Name = keyof Operations;
export type Argument<K extends Name> = Parameters<Operations[K]>[0];
export type Result<K extends Name> = Awaited<ReturnType<Operations[K]>>;

export interface ThreadRequest<K extends Name = Name> {
  readonly id: number;
  readonly name: K;
  readonly argument: Argument<K>;
}

export type ThreadReply =
  | { readonly id: number; readonly ok: true; readonly value: unknown }
  | {
      readonly id: number;
      readonly ok: false;
      readonly code: ErrorCode;
      readonly message: string;
    };

export function decoded<P extends Page>(page: P | undefined): Decoded<P> | undefined {
  if (!page) return undefined;
  const { bytes, ...rest } = page;
  return { ...rest, text: decodeText(bytes) };
}

/** Not by TextDecoder, which drops a byte order mark. */
export function decodeText({ buffer, byteOffset, length }: Uint8Array): string {
  return Buffer.from(buffer, byteOffset, length).toString();
}

const FREE = 0;
const INSIDE = 1;
const SHUT = 2;

/** A disk that takes longer than this is not waited for. */
const SHUT_WITHIN_MS = 5000;

/**
 * Node stops its threads wherever they are when the process exits, and a thread that is stopped
 * inside SQLite takes the process down with an abort (seen on Node 20). So the thread passes this
 * gate on its way into SQLite, and the exit of the process shuts it first.
 *
 *          enter            leave
 *   free ─────────▶ inside ───────▶ free ──── shut ────▶ shut, for good
 */
export class ExitGate {
  readonly buffer: SharedArrayBuffer;
  readonly #state: Int32Array;

  constructor(buffer = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)) {
    this.buffer = buffer;
    this.#state = new Int32Array(buffer);
  }

  /** False when the process exits and nothing is to be begun. */
  enter(): boolean {
    return Atomics.compareExchange(this.#state, 0, FREE, INSIDE) === FREE;
  }

  leave(): void {
    Atomics.store(this.#state, 0, FREE);
    Atomics.notify(this.#state, 0);
  }

  /** Waits for the thread to come out of SQLite; blocks the thread that calls it. */
  shut(): void {
    const deadlineMs = performance.now() + SHUT_WITHIN_MS;
    while (Atomics.compareExchange(this.#state, 0, FREE, SHUT) === INSIDE) {
      const leftMs = deadlineMs - performance.now();
      if (leftMs <= 0) return;
      Atomics.wait(this.#state, 0, INSIDE, leftMs);
    }
  }
}
