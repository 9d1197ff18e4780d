/**
 * The open database as the worker thread sees it: the log's table, the snapshots and the streams,
 * and the commit that may write to all of them at once.
 */
import type { LogRange } from "../log.ts";
import { Batches } from "./batches.ts";
import { readEnds } from "./check.ts";
import { BLOB, transaction, type Database, type Statement } from "./driver.ts";
import type { Commit, Committed, Page, Span } from "./protocol.ts";
import { Snapshots } from "./snapshots.ts";
import { Streams } from "./streams.ts";

export class Tables {
  readonly snapshots: Snapshots;
  readonly streams: Streams;
  readonly #database: Database;
  readonly #batches: Batches;
  readonly #insert: Statement<unknown>;
  #ends: { readonly truncated: number; readonly head: number };

  constructor(database: Database) {
    this.#database = database;
    this.#batches = new Batches(database, "log");
    this.#insert = database.prepare(`INSERT INTO log VALUES (?, ?, ${BLOB})`);
    this.snapshots = new Snapshots(database);
    this.streams = new Streams(database);
    this.#ends = readEnds(database);
  }

  range(): LogRange {
    return { head: this.#ends.head, oldest: this.#ends.truncated + 1 };
  }

  /** A fenced append does not hold back what others write to their streams in the same commit. */
  commit({ log, streams }: Commit): Committed {
    const { truncated, head } = this.#ends;
    const isFenced = log !== undefined && log.expectedHead !== head;
    const count = log && !isFenced ? log.count : 0;
    const write = () => {
      if (log && count > 0) this.#insert.run(head + count, head + 1, log.bytes);
      return streams.map((batch) => this.streams.append(batch.stream, batch));
    };
    try {
      const positions = streams.length === 0 ? write() : transaction(this.#database, write);
      this.#ends = { truncated, head: head + count };
      return { isFenced, head: head + count, positions };
    } catch (error) {
      this.streams.forgetCache();
      this.#ends = readEnds(this.#database);
      throw error;
    }
  }

  read(span: Span): Page | undefined {
    return this.#batches.read([], span);
  }

  finishSnapshot(id: number): void {
    this.snapshots.finish(id, this.#ends);
  }

  truncate(through: number): void {
    if (through <= this.#ends.truncated) return;
    this.snapshots.checkOneAtOrAfter(through);
    transaction(this.#database, () => {
      this.#database.prepare("UPDATE meta SET value = ? WHERE name = 'truncated'").run(through);
      this.snapshots.dropBefore(through);
    });
    this.#ends = { ...this.#ends, truncated: through };
  }

  sweep(): boolean {
    return (
      this.#batches.delete([], this.#ends.truncated) ||
      this.snapshots.sweep() ||
      this.streams.sweep()
    );
  }

  /** Moves the write-ahead log into the file, which tells the next one that all is well. */
  close(): void {
    this.#database.close();
  }
}
