/**
 * Snapshots: written in small commits between the appends, and there only once the last of them
 * marked it complete. What is not complete and not being written is swept.
 */
import { RollcallError } from "../../core/errors.ts";
import { BLOB, transaction, type Database } from "./driver.ts";
import { PAGE_BYTES, type SavedSnapshot, type SnapshotChunks } from "./protocol.ts";

/** Deleted at once: even if each is large, an append does not wait long for it. */
const SWEEP_CHUNKS = 16;

export class Snapshots {
  readonly #database: Database;
  readonly #beingWritten = new Set<number>();

  constructor(database: Database) {
    this.#database = database;
  }

  begin(sequence: number): number {
    const sql = "INSERT INTO snapshot (sequence, is_complete) VALUES (?, 0)";
    const id = this.#database.prepare(sql).run(sequence).lastInsertRowid;
    this.#beingWritten.add(id);
    return id;
  }

  add({ id, from, chunks }: SnapshotChunks): void {
    const insert = this.#database.prepare(
      `INSERT INTO chunk (snapshot, position, text) VALUES (?, ?, ${BLOB})`,
    );
    transaction(this.#database, () => {
      for (const [index, chunk] of chunks.entries())
        insert.run(id, from + index, Buffer.from(chunk));
    });
  }

  /** It takes the place of an earlier one of the same sequence. */
  finish(id: number, range: { readonly truncated: number; readonly head: number }): void {
    const sequence = this.#sequence(id);
    if (sequence > range.head) {
      const message = `snapshot ${sequence} is above the head ${range.head}`;
      throw new RollcallError("INVALID_ARGUMENT", message);
    }
    if (sequence < range.truncated) {
      const message = `snapshot ${sequence} is below ${range.truncated}, where the log was cut`;
      throw new RollcallError("OUT_OF_RANGE", message);
    }
    this.#database
      .prepare("UPDATE snapshot SET is_complete = (id = ?) WHERE sequence = ?")
      .run(id, sequence);
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
    return this.#database
      .prepare<SavedSnapshot>(
        `SELECT id, sequence, (SELECT count(*) FROM chunk WHERE snapshot = id) AS chunks
         FROM snapshot WHERE is_complete AND sequence <= ? ORDER BY sequence DESC LIMIT 1`,
      )
      .get(atOrBefore);
  }

  read(id: number, from: number): readonly Uint8Array[] {
    const next = this.#database.prepare<{ text: Uint8Array }>(
      "SELECT text FROM chunk WHERE snapshot = ? AND position = ?",
    );
    const chunks: Uint8Array[] = [];
    for (let bytes = 0; bytes < PAGE_BYTES;) {
      const chunk = next.get(id, from + chunks.length)?.text;
      if (!chunk) break;
      chunks.push(chunk);
      bytes += chunk.length;
    }
    return chunks;
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

  #sequence(id: number): number {
    const sql = "SELECT sequence FROM snapshot WHERE id = ?";
    return this.#database.prepare<{ sequence: number }>(sql).get(id)?.sequence ?? Infinity;
  }
}
