/**
 * A few bytes beside the database that outlive damage to it: FILE.witness, two lines.
 *
 * - The floor: no token and no term that was ever handed out is above it. It is reserved far ahead
 *   and synced before anything above the last floor is committed, so that it is seldom written, and
 *   what begins above it after a loss is above everything from before. After a loss it is owed:
 *   until an append has begun above it, every opening hands it out again.
 * - The head: how far the log had come, and how long the write-ahead log was, when the last commit
 *   was synced. It is written over in place after each such commit, without a sync of its own: it
 *   survives the death of the process, and after a power cut it is older, never newer, than what is
 *   on the disk. A log that ends before it has lost something.
 *
 * A write-ahead log that is made anew draws its number by chance. So before a session writes, a
 * line that tells of an earlier log loses that part, and both that and the last line of a session
 * are synced: a line that tells of a write-ahead log tells of this one, or of an earlier round.
 *
 * Each line has a checksum; one that does not hold counts as not there.
 */
import * as fs from "node:fs";
import { endianness } from "node:os";
import { crc32 } from "node:zlib";
import { corrupt } from "./driver.ts";
import { syncFolder } from "./place.ts";
import { WalRoom } from "./wal-room.ts";
import type { WalContent } from "./wal.ts";

/** A million grants are a second of work at the most, and use up nothing that would be missed. */
export const RESERVED_AHEAD = 1_000_000;

/**
 * How many commits a power cut may tear or leave holes in: those of the sweep that were not synced,
 * and the one that was being written. More that stand behind a damaged frame prove that it was
 * whole once.
 */
export const UNSYNCED_COMMITS = 8;

const LINE = 128;
const FLOOR_LINE = 0;
const HEAD_LINE = 1;

/** The last head that was acknowledged. */
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
  /** Whether something may have been lost, and nothing has begun above the floor since. */
  readonly isOwed: boolean;
  readonly head: WitnessedHead | undefined;
}

/** Reads the witness of a database; undefined when there is none. */
export function readWitness(path: string): Testimony | undefined {
  let text: string;
  try {
    text = fs.readFileSync(witnessFile(path), "latin1");
  } catch {
    return undefined;
  }
  const line = parseLine(text, FLOOR_LINE) as FloorLine | undefined;
  const head = parseLine(text, HEAD_LINE) as WitnessedHead | undefined;
  return { floor: line?.floor ?? 0, isOwed: line?.isOwed === true || !head, head };
}

interface FloorLine {
  readonly floor: number;
  readonly isOwed?: boolean;
}

export class HeadWitness {
  readonly #path: string;
  readonly #shared: WalIndex;
  readonly #room: WalRoom;
  #file: number | undefined;
  #floor: number;
  /** The sequence that the next append has to begin above, if there is one. */
  #owed: number | undefined;

  constructor(path: string, testimony: Testimony | undefined) {
    const { floor, isOwed, head } = testimony ?? { floor: 0, isOwed: false, head: undefined };
    this.#path = path;
    this.#shared = new WalIndex(path);
    this.#room = new WalRoom(path);
    this.#floor = floor;
    this.#owed = isOwed && floor > 0 ? floor : undefined;
    if (head && head.frames > 0) this.#begin({ ...head, ...NO_FRAMES });
    else if (!head && this.#owed !== undefined) this.#begin(undefined);
  }

  #begin(head: WitnessedHead | undefined): void {
    const file = this.#open();
    this.#writeFloor(file, this.#floor);
    if (head) writeLine(file, HEAD_LINE, head);
    fs.fsyncSync(file);
  }

  /** Given where something may have been lost: no token and no term from before is above it. */
  get owed(): number | undefined {
    return this.#owed;
  }

  /** Before anything above the floor is committed. */
  reserve(fence: number): void {
    if (fence <= this.#floor) return;
    const floor = fence + RESERVED_AHEAD;
    const file = this.#open();
    this.#writeFloor(file, floor);
    fs.fsyncSync(file);
    this.#floor = floor;
  }

  #writeFloor(file: number, floor: number): void {
    const line: FloorLine = { floor, isOwed: this.#owed !== undefined };
    writeLine(file, FLOOR_LINE, line);
  }

  /** After each commit that is synced, before it is acknowledged. */
  saw(head: number, checksum: number, fence: number): void {
    try {
      const file = this.#open();
      const end = this.#shared.read();
      writeLine(file, HEAD_LINE, { head, checksum, ...end });
      if (this.#owed !== undefined && fence >= this.#owed) {
        this.#owed = undefined;
        this.#writeFloor(file, this.#floor);
      }
      this.#room.make(end.frames);
    } catch {
      // A full disk. What was committed is: without a witness less would be noticed, that is all.
    }
  }

  /** The database is closed; unless a reader has it, there is no write-ahead log any more. */
  close(last: { readonly head: number; readonly checksum: number } | undefined): void {
    this.#shared.close();
    this.#room.close();
    const file = this.#file;
    if (file === undefined) return;
    this.#file = undefined;
    const isLeft = (fs.statSync(`${this.#path}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0;
    try {
      if (last && !isLeft) writeLine(file, HEAD_LINE, { ...last, ...NO_FRAMES });
      if (last) fs.fsyncSync(file);
    } finally {
      fs.closeSync(file);
    }
  }

  #open(): number {
    this.#file ??= openWitness(this.#path);
    return this.#file;
  }
}

/** For a database that begins anew above everything that was handed out before. */
export function writeFloor(path: string, floor: number): void {
  const file = openWitness(path);
  try {
    const lines = lineOf({ floor, isOwed: true }) + " ".repeat(LINE);
    fs.writeSync(file, Buffer.from(lines, "latin1"), 0, lines.length, 0);
    fs.fsyncSync(file);
  } finally {
    fs.closeSync(file);
  }
}

/** Refuses a write-ahead log that SQLite would open without what was acknowledged. */
export function checkWal(path: string, wal: WalContent, head: WitnessedHead | undefined): void {
  const file = `${path}-wal`;
  const bad = `frame ${wal.verified + 1} of ${file}`;
  // It is synced before the first frame is written behind it.
  if (wal.hasFrames && !wal.isValid) throw corrupt(path, `the header of ${file} is damaged`);
  if (head && head.frames > 0 && wal.hasFrames) {
    const isSame = wal.round === head.round && wal.salt === head.salt;
    if (isSame && wal.committed < head.frames) {
      throw corrupt(path, `${bad} is damaged, and ${head.frames} frames were acknowledged`);
    }
    if (!isSame && !isLater(wal.round, head.round)) {
      throw corrupt(path, `${file} is not the one that was written last`);
    }
  }
  if (wal.commitsBehind > UNSYNCED_COMMITS) {
    throw corrupt(path, `${bad} is damaged, and ${wal.commitsBehind} commits stand behind it`);
  }
}

/** The number of a round begins anywhere, and after the highest comes 0. */
function isLater(round: number, than: number): boolean {
  return ((round - than) | 0) > 0;
}

function witnessFile(path: string): string {
  return `${path}.witness`;
}

function openWitness(path: string): number {
  try {
    return fs.openSync(witnessFile(path), "r+");
  } catch {
    const file = fs.openSync(witnessFile(path), "w+", 0o600);
    syncFolder(path);
    return file;
  }
}

function writeLine(file: number, line: number, facts: object): void {
  fs.writeSync(file, Buffer.from(lineOf(facts), "latin1"), 0, LINE, line * LINE);
}

function lineOf(facts: object): string {
  const text = JSON.stringify(facts);
  return `${text.padEnd(LINE - 10)} ${crc32(text).toString(16).padStart(8, "0")}\n`;
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
    if (fs.readSync(this.#file, this.#header, 0, byteLength, 0) < byteLength) return NO_FRAMES;
    return {
      frames: this.#header.getUint32(16, IS_LITTLE_ENDIAN),
      round: this.#header.getUint32(32),
      salt: this.#header.getUint32(36),
    };
  }

  close(): void {
    if (this.#file !== undefined) fs.closeSync(this.#file);
    this.#file = undefined;
  }
}

/** Where there is none, SQLite has the file for itself and keeps the index in its memory. */
function openIndex(path: string): number | undefined {
  try {
    return fs.openSync(path, "r");
  } catch {
    return undefined;
  }
}
