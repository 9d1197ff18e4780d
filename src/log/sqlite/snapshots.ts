/**
 * Snapshots: written in small commits between the appends, and there only once the last of them
 * marked it complete. What is not complete and not being written is swept.
 */
import { RollcallError } from "../../core/errors.ts";
import { checksumOf, checkSum, checkUnchecked, extended, type CheckedFile } from "./checksum.ts";
import { BLOB, corrupt, transaction, type Database } from "./driver.ts";
import { PAGE_BYTES, type SavedSnapshot, type SnapshotChunks } from "./protocol.ts";

/** Deleted at once: even if each is large, an append does not wait long for it. */
const SWEEP_CHUNKS = 16;

interface SnapshotRow extends SavedSnapshot {
  readonly checksum: number | null;
  /** Of its last chunk, with all before it. */
  readonly running: number | null;
}

const ROW = `
  SELECT id, sequence, checksum, (SELECT count(*) FROM chunk WHERE snapshot = id) AS chunks,
    (SELECT checksum FROM chunk WHERE snapshot = id ORDER BY position DESC LIMIT 1) AS running
  FROM snapshot`;

export class SnapshotTable {
  readonly #database: Database;
  readonly #file: CheckedFile;
  /** Snapshots that are being written, with their checksums so far. */
  readonly #beingWritten = new Map<number, number>();

  constructor(database: Database, file: CheckedFile) {
    this.#database = database;
    this.#file = file;
  }

  begin(sequence: number): number {
    const sql = "INSERT INTO snapshot (sequence, is_complete) VALUES (?, 0)";
    const id = this.#database.prepare(sql).run(sequence).lastInsertRowid;
    this.#beingWritten.set(id, startOf(id));
    return id;
  }

  add({ id, from, chunks }: SnapshotChunks): void {
    const insert = this.#database.prepare(
      `INSERT INTO chunk (snapshot, position, text, checksum) VALUES (?, ?, ${BLOB}, ?)`,
    );
    let running = this.#beingWritten.get(id) ?? startOf(id);
    transaction(this.#database, () => {
      for (const [index, chunk] of chunks.entries()) {
        const bytes = Buffer.from(chunk);
        running = extended(running, bytes);
        insert.run(id, from + index, bytes, running);
      }
    });
    this.#beingWritten.set(id, running);
  }

  /** It takes the place of an earlier one of the same sequence. */
  finish(id: number, range: { readonly truncated: number; readonly head: number }): void {
    const row = this.#row(id);
    const sequence = row?.sequence ?? Infinity;
    if (sequence > range.head) {
      const message = `snapshot ${sequence} is above the head ${range.head}`;
      throw new RollcallError("INVALID_ARGUMENT", message);
    }
    if (sequence < range.truncated) {
      const message = `snapshot ${sequence} is below ${range.truncated}, where the log was cut`;
      throw new RollcallError("OUT_OF_RANGE", message);
    }
    this.#database
      .prepare(
        `UPDATE snapshot SET is_complete = (id = ?), checksum = iif(id = ?, ?, checksum)
         WHERE sequence = ?`,
      )
      .run(id, id, row ? rowChecksum(row) : 0, sequence);
    this.#beingWritten.delete(id);
  }

  drop(id: number): void {
    this.#beingWritten.delete(id);
  }

  /** Forgets the snapshots before `sequence`. */
  dropBefore(sequence: number): void {
    this.#database.prepare("UPDATE snapshot SET is_complete = 0 WHERE sequence < ?").run(sequence);
  }

  checkOneAtOrAfter(sequence: number): void {
    const sql = "SELECT id FROM snapshot WHERE is_complete AND sequence >= ? LIMIT 1";
    if (this.#database.prepare(sql).get(sequence)) return;
    throw new RollcallError("WRONG_STATE", `no snapshot stands at or after ${sequence}`);
  }

  find(atOrBefore: number): SavedSnapshot | undefined {
    const row = this.#database
      .prepare<SnapshotRow>(
        `${ROW} WHERE is_complete AND sequence <= ? ORDER BY sequence DESC LIMIT 1`,
      )
      .get(atOrBefore);
    if (!row) return undefined;
    this.#check(row);
    return { id: row.id, sequence: row.sequence, chunks: row.chunks };
  }

  #check(row: SnapshotRow): void {
    const { path } = this.#file;
    const what = `the snapshot at ${row.sequence}`;
    if (row.checksum !== null) {
      checkSum({ path, what, expected: row.checksum, found: rowChecksum(row) });
    } else checkUnchecked({ path, what, row: row.id, unchecked: this.#file.unchecked.snapshot });
  }

  read(id: number, from: number): readonly Uint8Array[] {
    const next = this.#database.prepare<Chunk>(
      "SELECT text, checksum FROM chunk WHERE snapshot = ? AND position = ?",
    );
    let running = from === 0 ? startOf(id) : (next.get(id, from - 1)?.checksum ?? 0);
    const chunks: Uint8Array[] = [];
    for (let bytes = 0; bytes < PAGE_BYTES;) {
      const chunk = next.get(id, from + chunks.length);
      if (!chunk) break;
      const what = `chunk ${from + chunks.length} of snapshot ${id}`;
      running = this.#checkChunk({ id, what, ...chunk }, running);
      chunks.push(chunk.text);
      bytes += chunk.text.length;
    }
    return chunks;
  }

  #checkChunk({ id, what, text, checksum }: NamedChunk, before: number): number {
    const { path, unchecked } = this.#file;
    if (checksum === null) {
      checkUnchecked({ path, what, row: id, unchecked: unchecked.snapshot });
      return 0;
    }
    checkSum({ path, what, expected: checksum, found: extended(before, text) });
    return checksum;
  }

  /** Reads all of them, which checks them. */
  verify(): void {
    const rows = this.#database.prepare<SnapshotRow>(`${ROW} WHERE is_complete`).all();
    for (const row of rows) {
      this.#check(row);
      for (let from = 0; from < row.chunks;) from += this.#readSome(row, from);
    }
  }

  #readSome({ id, sequence }: SnapshotRow, from: number): number {
    const { length } = this.read(id, from);
    if (length > 0) return length;
    throw corrupt(this.#file.path, `chunk ${from} of the snapshot at ${sequence} is missing`);
  }

  sweep(): boolean {
    const unfinished = this.#database
      .prepare<{ id: number }>("SELECT id FROM snapshot WHERE NOT is_complete")
      .all()
      .find(({ id }) => !this.#beingWritten.has(id));
    if (!unfinished) return false;
    const { changes } = this.#database
      .prepare(
        `DELETE FROM chunk WHERE rowid IN (SELECT rowid FROM chunk WHERE snapshot = ? LIMIT ?)`,
      )
      .run(unfinished.id, SWEEP_CHUNKS);
    if (changes === 0) {
      this.#database.prepare("DELETE FROM snapshot WHERE id = ?").run(unfinished.id);
    }
    return true;
  }

  #row(id: number): SnapshotRow | undefined {
    return this.#database.prepare<SnapshotRow>(`${ROW} WHERE id = ?`).get(id);
  }
}

interface Chunk {
  readonly text: Uint8Array;
  readonly checksum: number | null;
}

interface NamedChunk extends Chunk {
  /** The snapshot. */
  readonly id: number;
  readonly what: string;
}

/** The chunks of one snapshot are not those of another. */
function startOf(id: number): number {
  return checksumOf(["snapshot", id]);
}

function rowChecksum({ id, sequence, chunks, running }: SnapshotRow): number {
  return checksumOf([id, sequence, chunks, running]);
}
