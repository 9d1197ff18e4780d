/**
 * The open database as the worker thread sees it: the log's table, the snapshots and the streams,
 * and the commit that may write to all of them at once.
 */
import type { RollcallError } from "../../core/errors.ts";
import type { LogRange } from "../log.ts";
import { fenced } from "../entries.ts";
import { Batches } from "./batches.ts";
import { readEnds } from "./check.ts";
import { BLOB, transaction, type Database, type Statement } from "./driver.ts";
import type { Append, Outcome, Page, Span, Write } from "./protocol.ts";
import { Snapshots } from "./snapshots.ts";
import { StreamTables } from "./stream-tables.ts";

export class Tables {
  readonly snapshots: Snapshots;
  readonly streams: StreamTables;
  readonly #database: Database;
  readonly #batches: Batches;
  readonly #insert: Statement<unknown>;
  #ends: { readonly truncated: number; readonly head: number };

  constructor(database: Database) {
    this.#database = database;
    this.#batches = new Batches(database, "log");
    this.#insert = database.prepare(`INSERT INTO log VALUES (?, ?, ${BLOB})`);
    this.snapshots = new Snapshots(database);
    this.streams = new StreamTables(database);
    this.#ends = readEnds(database);
  }

  range(): LogRange {
    return { head: this.#ends.head, oldest: this.#ends.truncated + 1 };
  }

  /** An append that is fenced holds back nothing else of the commit. */
  commit(writes: readonly Write[]): readonly Outcome[] {
    const all = () => writes.map((write) => this.#write(write));
    try {
      // One insert is a transaction by itself.
      return writes.every(isLogOnly) && writes.length === 1
        ? all()
        : transaction(this.#database, all);
    } catch (error) {
      this.streams.forgetCache();
      this.#ends = readEnds(this.#database);
      throw error;
    }
  }

  #write(write: Write): Outcome {
    switch (write.kind) {
      case "append": {
        const reason = this.#fence(write);
        return reason ? { fenced: reason.message, heads: [] } : { heads: this.#append(write) };
      }
      case "trim":
        this.streams.trim(write.stream, write.through);
        return { heads: [] };
      case "remove":
        this.streams.remove(write.stream);
        return { heads: [] };
    }
  }

  #fence({ log, streams }: Append): RollcallError | undefined {
    const { head } = this.#ends;
    if (log && log.expectedHead !== head) return fenced("the log", head, log.expectedHead);
    for (const { stream, expectedHead } of streams) {
      if (expectedHead === undefined) continue;
      const range = this.streams.range(stream);
      if (range.head !== expectedHead) return fenced(`stream ${stream}`, range.head, expectedHead);
    }
    return undefined;
  }

  #append({ log, streams }: Append): readonly number[] {
    const { truncated, head } = this.#ends;
    if (log && log.count > 0) {
      this.#insert.run(head + log.count, head + 1, log.bytes);
      this.#ends = { truncated, head: head + log.count };
    }
    return streams.map((part) => this.streams.append(part.stream, part));
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

function isLogOnly(write: Write): boolean {
  return write.kind === "append" && write.streams.length === 0;
}
