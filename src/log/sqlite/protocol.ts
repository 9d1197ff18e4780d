/**
 * What the main thread asks of the SQLite thread, one call at a time, in order. Text crosses as
 * UTF-8 bytes: a blob may hold a zero character, which SQLite's text may not, and is not copied
 * character by character on the way.
 */
import type { ErrorCode } from "../../core/errors.ts";
import type { LogRange } from "../log.ts";
import type { NamedRange, StreamRange } from "../streams.ts";

/** What one message carries at most (but at least one batch): fast to read, short to wait for. */
export const PAGE_BYTES = 1 << 20;
/** Chunks of a snapshot are written together up to here: a commit of a few milliseconds. */
export const SNAPSHOT_BYTES = 256 << 10;
/** What may wait to be written to streams; beyond it the producers outrun the disk. */
export const WAITING_BYTES = 64 << 20;

const encoder = new TextEncoder();

export function encodeText(text: string): Uint8Array {
  return encoder.encode(text);
}

/** Not by TextDecoder, which drops a byte order mark. */
export function decodeText({ buffer, byteOffset, length }: Uint8Array): string {
  return Buffer.from(buffer, byteOffset, length).toString();
}

export interface Operations {
  open(options: OpenOptions): Promise<LogRange>;
  range(): LogRange;
  commit(writes: readonly Write[]): readonly Outcome[];
  readLog(span: Span): Page | undefined;
  truncate(through: number): void;

  beginSnapshot(sequence: number): number;
  addChunks(chunks: SnapshotChunks): void;
  finishSnapshot(id: number): void;
  dropSnapshot(id: number): void;
  findSnapshot(atOrBefore: number): SavedSnapshot | undefined;
  readChunks(chunks: { readonly id: number; readonly from: number }): readonly Uint8Array[];

  readStream(read: { readonly stream: string; readonly span: Span }): Page | undefined;
  rangeOfStream(stream: string): StreamRange;
  listStreams(list: { readonly prefix: string; readonly after: string }): readonly NamedRange[];

  /** Deletes a bounded piece of what was forgotten; false when there is nothing left to delete. */
  sweep(): boolean;
  close(): void;
}

export interface OpenOptions {
  readonly path: string;
  readonly writtenBy: string;
}

/** Entries joined by newlines. */
export interface Batch {
  readonly count: number;
  readonly bytes: Uint8Array;
}

/** Of several in one commit each sees what those before it did. */
export type Write =
  | Append
  | { readonly kind: "trim"; readonly stream: string; readonly through: number }
  | { readonly kind: "remove"; readonly stream: string };

/** All or nothing: nothing of it is written when a head is not the expected one. */
export interface Append {
  readonly kind: "append";
  readonly log: (Batch & { readonly expectedHead: number }) | undefined;
  readonly streams: readonly StreamPart[];
}

export interface StreamPart extends Batch {
  readonly stream: string;
  readonly expectedHead: number | undefined;
}

export interface Outcome {
  /** Why an append was refused, when it was. */
  readonly fenced?: string;
  /** The new head of each stream of an append. */
  readonly heads: readonly number[];
}

/** After `after`, up to and including `through`. */
export interface Span {
  readonly after: number;
  readonly through: number;
}

/** Whole batches, so the first may begin before what was asked for. */
export interface Page {
  readonly first: number;
  readonly last: number;
  readonly bytes: Uint8Array;
}

export interface SnapshotChunks {
  readonly id: number;
  /** The index of the first one. */
  readonly from: number;
  readonly chunks: readonly Uint8Array[];
}

export interface SavedSnapshot {
  readonly id: number;
  readonly sequence: number;
  readonly chunks: number;
}

export type Name = keyof Operations;
export type Argument<K extends Name> = Parameters<Operations[K]>[0];
export type Result<K extends Name> = Awaited<ReturnType<Operations[K]>>;

export interface Request<K extends Name = Name> {
  readonly id: number;
  readonly name: K;
  readonly argument: Argument<K>;
}

export type Reply =
  | { readonly id: number; readonly ok: true; readonly value: unknown }
  | {
      readonly id: number;
      readonly ok: false;
      readonly code: ErrorCode;
      readonly message: string;
    };
