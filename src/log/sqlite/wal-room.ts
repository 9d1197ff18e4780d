/**
 * Room in the write-ahead log before it is needed. A commit that makes the file longer takes twice
 * as long as one that writes over what is there: its sync also has to write how long the file is
 * now, and where it lies. Once the log begins anew from its start, all commits are of the second
 * kind; a small daemon takes days to get there, and starts with an empty log every time. So zeros
 * are written ahead of it, a piece at a time. To SQLite they are what a crash may leave: no frame,
 * and the end of the log.
 */
import * as fs from "node:fs";

/**
 * So many pages of write-ahead log, then it is moved into the file and written over from its start:
 * 8 MB. Longer is slower to read at a start, and shorter is slower for large commits.
 */
export const WAL_PAGES = 2000;
/** The file is cut to this whenever it begins anew. */
export const WAL_BYTES = WAL_PAGES * 4096;

const FRAME_BYTES = 24 + 4096;
/** The commit after it syncs it, which takes a millisecond. */
const PIECE = Buffer.alloc(1 << 20);
/** Less than this ahead is too little: a commit of some size should find room. */
const LEAST_BYTES = 256 << 10;

export class WalRoom {
  readonly #path: string;
  #file: number | undefined;
  #bytes = 0;

  constructor(path: string) {
    this.#path = `${path}-wal`;
  }

  /** The log has so many frames now. */
  make(frames: number): void {
    const wanted = Math.min(frames * FRAME_BYTES + LEAST_BYTES, WAL_BYTES);
    if (frames === 0 || wanted <= this.#bytes) return;
    this.#file ??= fs.openSync(this.#path, "r+");
    const { size } = fs.fstatSync(this.#file);
    this.#bytes = size < wanted ? this.#extend(this.#file, size) : size;
  }

  #extend(file: number, size: number): number {
    const length = Math.min(PIECE.length, WAL_BYTES - size);
    try {
      if (fs.writeSync(file, PIECE, 0, length, size) === length) return size + length;
    } catch {
      // As where less of it fits.
    }
    // A full disk: what is left of it is for commits.
    fs.ftruncateSync(file, size);
    return WAL_BYTES;
  }

  close(): void {
    if (this.#file !== undefined) fs.closeSync(this.#file);
    this.#file = undefined;
  }
}
