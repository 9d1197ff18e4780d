/**
 * The checksums in the file.
 *
 * - Of text that goes on (the log, the blocks of a stream, the chunks of a snapshot) the checksum
 *   of a row covers everything from the start up to and including it: it is that of the row before,
 *   taken further. So a row cannot vanish or change places, and many rows that were glued together
 *   are checked by one call, from the checksum before the first to that of the last.
 * - Of a row that describes something it covers its columns.
 *
 * A row from before there were checksums has none: NULL, up to the row numbers in `Unchecked`.
 */
import { crc32 } from "node:zlib";
import { corrupt } from "./driver.ts";

/** Up to these row numbers, a row was written by a program that knew no checksums. */
export interface Unchecked {
  readonly log: number;
  readonly snapshot: number;
  readonly stream: number;
  readonly journal: number;
}

/** The file that is read, for all that check it. */
export interface CheckedFile {
  readonly path: string;
  unchecked: Unchecked;
}

export const ALL_CHECKED: Unchecked = { log: 0, snapshot: 0, stream: 0, journal: 0 };

type ColumnValue = string | number | null;

/** Further by a text and the newline that parts it from the next one. */
export function extended(before: number, text: string | Uint8Array): number {
  return crc32("\n", crcOf(text, before));
}

/** Of nothing, zlib forgets the value before. */
function crcOf(text: string | Uint8Array, before: number): number {
  return text.length === 0 ? before : crc32(text, before);
}

export function checksumOf(
  columns: readonly ColumnValue[],
  text?: string | Uint8Array | null,
): number {
  const described = crc32(JSON.stringify(columns));
  return text === undefined || text === null ? described : crcOf(text, described);
}

/** The checksum of a batch of the log also covers the ids of its append and of the one before. */
export function withIds(running: number, { id, previous }: AppendIds): number {
  return (running ^ crc32(`${id} ${previous}`)) >>> 0;
}

export interface AppendIds {
  readonly id: string;
  readonly previous: string;
}

interface Sum {
  readonly path: string;
  /** The row or rows in question, for the message. */
  readonly what: string;
  readonly expected: number;
  readonly found: number;
}

export function checkSum({ path, what, expected, found }: Sum): void {
  if (expected !== found) throw corrupt(path, `${what}: the checksum is wrong`);
}

interface UncheckedRow {
  readonly path: string;
  readonly what: string;
  readonly row: number;
  /** The last row that may be without a checksum. */
  readonly unchecked: number;
}

/** Refuses a row without a checksum that should have one. */
export function checkUnchecked({ path, what, row, unchecked }: UncheckedRow): void {
  if (row > unchecked) throw corrupt(path, `${what}: the checksum is missing`);
}
