/**
 * A few bytes beside the database that outlive damage to it: FILE.witness, two lines.
 *
 * - The floor: no token and no term that was ever handed out is above it. It is reserved far ahead
 *   and synced before anything above the last floor is committed, so that it is seldom written, and
 *   what begins above it after a loss is above everything from before.
 * - The head: how far the log had come, and how long the write-ahead log was, when the last commit
 *   was acknowledged. It is written over in place after each commit, without a sync of its own: it
 *   survives the death of the process, and after a power cut it is older, never newer, than what is
 *   on the disk. A log that ends before it has lost something.
 *
 * Each line has a checksum; one that does not hold counts as not there.
 */
import { closeSync, fsyncSync, openSync, readFileSync, readSync, writeSync } from "node:fs";
import { endianness } from "node:os";
import { crc32 } from "node:zlib";
import { corrupt } from "./driver.ts";
import type { WalContent } from "./wal.ts";

/** A million grants are a second of work at the most, and use up nothing that would be missed. */
export const RESERVED_AHEAD = 1_000_000;

const LINE = 128;
const FLOOR_LINE = 0;
const HEAD_LINE = 1;

/** What was acknowledged. */
export interface WitnessedHead {
  readonly head: number;
  /** Of the batch that ends there, with all before it. */
  readonly checksum: number;
  /** Frames of the write-ahead log up to the last commit; none once it is closed. */
  readonly frames: number;
  readonly round: number;
  readonly salt: number;
}

export interface Testimony {
  readonly floor: number;
  readonly head: WitnessedHead | undefined;
}

/** What the witness of a database says; undefined when there is none. */
export function readWitness(path: string): Testimony | undefined {
  let text: string;
  try {
    text = readFileSync(witnessFile(path), "latin1");
  } catch {
    return undefined;
  }
  const floor = parseLine(text, FLOOR_LINE) as { readonly floor: number } | undefined;
  const head = parseLine(text, HEAD_LINE) as WitnessedHead | undefined;
  return { floor: floor?.floor ?? 0, head };
}

export class Witness {
  readonly #path: string;
  readonly #shared: WalIndex;
  #file: number | undefined;
  #floor: number;

  constructor(path: string) {
    this.#path = path;
    this.#shared = new WalIndex(path);
    this.#floor = readWitness(path)?.floor ?? 0;
  }

  /** Before anything above the floor is committed. */
  reserve(fence: number): void {
    if (fence <= this.#floor) return;
    const floor = fence + RESERVED_AHEAD;
    const file = this.#open();
    writeLine(file, FLOOR_LINE, { floor });
    fsyncSync(file);
    this.#floor = floor;
  }

  /** After each commit, before it is acknowledged. */
  saw(head: number, checksum: number): void {
    try {
      writeLine(this.#open(), HEAD_LINE, { head, checksum, ...this.#shared.read() });
    } catch {
      // A full disk. What was committed is: without a witness less would be noticed, that is all.
    }
  }

  /** The database is closed, and has no write-ahead log any more. */
  close(last: { readonly head: number; readonly checksum: number } | undefined): void {
    this.#shared.close();
    if (this.#file === undefined) return;
    if (last) writeLine(this.#file, HEAD_LINE, { ...last, ...NO_FRAMES });
    closeSync(this.#file);
    this.#file = undefined;
  }

  #open(): number {
    this.#file ??= openWitness(this.#path);
    return this.#file;
  }
}

/** For a database that begins anew above everything that was handed out before. */
export function writeFloor(path: string, floor: number): void {
  const file = openSync(witnessFile(path), "w", 0o600);
  writeLine(file, FLOOR_LINE, { floor });
  fsyncSync(file);
  closeSync(file);
}

/** Refuses a write-ahead log that SQLite would open without what was acknowledged. */
export function checkWal(path: string, wal: WalContent, head: WitnessedHead | undefined): void {
  const file = `${path}-wal`;
  const bad = `frame ${wal.verified + 1} of ${file}`;
  if (head && head.frames > 0 && wal.hasFrames) {
    if (!wal.isValid) throw corrupt(path, `the header of ${file} is damaged`);
    const isSame = wal.round === head.round && wal.salt === head.salt;
    if (isSame && wal.committed < head.frames) {
      throw corrupt(path, `${bad} is damaged, and ${head.frames} frames were acknowledged`);
    }
    if (!isSame && wal.round !== (head.round + 1) >>> 0) {
      throw corrupt(path, `${file} is not the one that was written last`);
    }
  } else if (!head && wal.hasFrames && !wal.isValid) {
    throw corrupt(path, `the header of ${file} is damaged`);
  }
  // A power cut may tear the commit that was being written, and only that.
  if (wal.commitsBehind > (head ? 1 : 0)) {
    throw corrupt(path, `${bad} is damaged, and ${wal.commitsBehind} commits stand behind it`);
  }
}

function witnessFile(path: string): string {
  return `${path}.witness`;
}

function openWitness(path: string): number {
  try {
    return openSync(witnessFile(path), "r+");
  } catch {
    return openSync(witnessFile(path), "w+", 0o600);
  }
}

function writeLine(file: number, line: number, facts: object): void {
  const text = JSON.stringify(facts);
  const sum = crc32(text).toString(16).padStart(8, "0");
  const bytes = Buffer.from(`${text.padEnd(LINE - 10)} ${sum}\n`, "latin1");
  writeSync(file, bytes, 0, LINE, line * LINE);
}

function parseLine(text: string, line: number): unknown {
  const written = text.slice(line * LINE, (line + 1) * LINE);
  const facts = written.slice(0, -10).trimEnd();
  if (facts === "" || written.slice(-9, -1) !== crc32(facts).toString(16).padStart(8, "0")) {
    return undefined;
  }
  return JSON.parse(facts);
}

/** The index has the words of this machine; salts are as they stand in the log. */
const IS_LITTLE_ENDIAN = endianness() === "LE";
const NO_FRAMES = { frames: 0, round: 0, salt: 0 };

/**
 * The end of the write-ahead log, from the index that SQLite keeps of it in FILE-shm. Its lock is
 * on that very file, and closing any handle of it would end the lock: it stays open until SQLite
 * has let go.
 */
class WalIndex {
  readonly #path: string;
  readonly #header = new DataView(new ArrayBuffer(40));
  #file: number | undefined;

  constructor(path: string) {
    this.#path = `${path}-shm`;
  }

  read(): typeof NO_FRAMES {
    this.#file ??= openIndex(this.#path);
    if (this.#file === undefined) return NO_FRAMES;
    const { byteLength } = this.#header;
    if (readSync(this.#file, this.#header, 0, byteLength, 0) < byteLength) return NO_FRAMES;
    return {
      frames: this.#header.getUint32(16, IS_LITTLE_ENDIAN),
      round: this.#header.getUint32(32),
      salt: this.#header.getUint32(36),
    };
  }

  close(): void {
    if (this.#file !== undefined) closeSync(this.#file);
    this.#file = undefined;
  }
}

/** Where there is none, SQLite has the file for itself and keeps the index in its memory. */
function openIndex(path: string): number | undefined {
  try {
    return openSync(path, "r");
  } catch {
    return undefined;
  }
}
