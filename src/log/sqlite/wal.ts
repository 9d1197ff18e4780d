/**
 * The write-ahead log of SQLite, read without SQLite. SQLite takes the first frame that does not
 * verify for the end, as a crash leaves it, and forgets what stands behind it: right for a commit
 * that was torn, wrong for a bit that flipped. Here the two are told apart, before it is opened.
 *
 *   header (32 bytes)  magic, version, page size, number, two salts, checksum
 *   frame, many times  page number, pages in all if this frame commits, salts, checksum │ page
 *
 * A checksum continues that of the frame before. So a frame is also verified by what the frame
 * before it says of itself, even if that one is damaged: a frame that holds behind one that does
 * not is proof of damage. Frames of an earlier round have other salts.
 */
import { closeSync, fstatSync, openSync, readSync } from "node:fs";

const HEADER = 32;
const FRAME = 24;
const MAGIC = 0x37_7f_06_82;
/** The last bit of the magic says that the words of checksums are big-endian. */
const BIG_ENDIAN = 1;

export interface WalContent {
  /** Whether there is a header that verifies; without one SQLite ignores the file. */
  readonly isValid: boolean;
  readonly hasFrames: boolean;
  /** Of this round of the log; grows by one with each round. */
  readonly round: number;
  /** Draw of this round. */
  readonly salt: number;
  /** Frames up to the last commit that SQLite would see. */
  readonly committed: number;
  /** Frames that verify, in a row from the first. */
  readonly verified: number;
  /** Commits of this round that stand behind a frame that does not verify. */
  readonly commitsBehind: number;
}

const NOTHING: WalContent = {
  isValid: false,
  hasFrames: false,
  round: 0,
  salt: 0,
  committed: 0,
  verified: 0,
  commitsBehind: 0,
};

export function readWal(path: string): WalContent {
  let file: number;
  try {
    file = openSync(path, "r");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return NOTHING;
    throw error;
  }
  try {
    return readFrames(file, fstatSync(file).size);
  } finally {
    closeSync(file);
  }
}

function readFrames(file: number, bytes: number): WalContent {
  if (bytes <= HEADER) return NOTHING;
  const header = Buffer.alloc(HEADER);
  readSync(file, header, 0, HEADER, 0);
  const magic = header.readUInt32BE(0);
  const isBigEndian = (magic & BIG_ENDIAN) !== 0;
  const start = summed({ first: 0, second: 0 }, header.subarray(0, 24), isBigEndian);
  const isValid = (magic & ~BIG_ENDIAN) === MAGIC && isSum(start, header, 24);
  if (!isValid) return { ...NOTHING, hasFrames: true };
  const [round, salt] = [header.readUInt32BE(16), header.readUInt32BE(20)];
  const frame = Buffer.alloc(FRAME + pageBytes(header));
  let [committed, verified, commitsBehind] = [0, 0, 0];
  let before = start;
  const frames = Math.floor((bytes - HEADER) / frame.length);
  for (let index = 1; index <= frames; index += 1) {
    readSync(file, frame, 0, frame.length, HEADER + (index - 1) * frame.length);
    const isOfRound = frame.readUInt32BE(8) === round && frame.readUInt32BE(12) === salt;
    const holds = isOfRound && isSum(sumOf(frame, before, isBigEndian), frame, 16);
    const isCommit = frame.readUInt32BE(4) > 0;
    if (holds && verified === index - 1) {
      verified = index;
      if (isCommit) committed = index;
    } else if (holds && isCommit) {
      commitsBehind += 1;
    }
    before = { first: frame.readUInt32BE(16), second: frame.readUInt32BE(20) };
  }
  const hasFrames = frames > 0;
  return { isValid, hasFrames, round, salt, committed, verified, commitsBehind };
}

function sumOf(frame: Buffer, before: Sums, isBigEndian: boolean): Sums {
  const sum = summed(before, frame.subarray(0, 8), isBigEndian);
  return summed(sum, frame.subarray(FRAME), isBigEndian);
}

/** 65,536 is written as 1. */
function pageBytes(header: Buffer): number {
  const bytes = header.readUInt32BE(8);
  return bytes === 1 ? 1 << 16 : bytes;
}

interface Sums {
  readonly first: number;
  readonly second: number;
}

function isSum({ first, second }: Sums, bytes: Buffer, at: number): boolean {
  return bytes.readUInt32BE(at) === first && bytes.readUInt32BE(at + 4) === second;
}

/** SQLite's own checksum: two sums that feed each other, over pairs of 32-bit words. */
function summed(before: Sums, bytes: Buffer, isBigEndian: boolean): Sums {
  let first = before.first | 0;
  let second = before.second | 0;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  for (let at = 0; at < bytes.length; at += 8) {
    first = (first + view.getInt32(at, !isBigEndian) + second) | 0;
    second = (second + view.getInt32(at + 4, !isBigEndian) + first) | 0;
  }
  return { first: first >>> 0, second: second >>> 0 };
}
