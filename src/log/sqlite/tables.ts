/**
 * The open database as its thread sees it: the log's table, the snapshots and the streams, and the
 * commit that may write to all of them at once.
 */
import { fenced } from "../entries.ts";
import type { LogRange } from "../log.ts";
import { Batches } from "./batches.ts";
import { readEnds } from "./check.ts";
import { BLOB, transaction, unsynced, type Database } from "./driver.ts";
import type {
  Append,
  Commit,
  CommitResult,
  OpenedRange,
  AppendOutcome,
  Page,
  Span,
} from "./protocol.ts";
import { claimFile, lastWriter } from "./schema.ts";
import { Snapshots } from "./snapshots.ts";
import { StreamTables } from "./stream-tables.ts";

const INSERT = `INSERT INTO log (last, first, entries) VALUES (?, ?, ${BLOB})`;

export class Tables {
  readonly snapshots: Snapshots;
  readonly streams: StreamTables;
  readonly #database: Database;
  readonly #writtenBy: string;
  readonly #batches: Batches;
  #ends: { readonly truncated: number; readonly head: number };
  /** Whether this program has written to the file since it was opened. */
  #isClaimed = false;

  constructor(database: Database, writtenBy: string) {
    this.#database = database;
    this.#writtenBy = writtenBy;
    this.#batches = new Batches(database, "log");
    this.snapshots = new Snapshots(database);
    this.streams = new StreamTables(database);
    this.#ends = readEnds(database);
  }

  opened(): OpenedRange {
    return { ...this.range(), lastWriter: lastWriter(this.#database) };
  }

  range(): LogRange {
    return { head: this.#ends.head, oldest: this.#ends.truncated + 1 };
  }

  /** An append that is fenced holds back nothing else of the commit. */
  commit(commit: Commit): CommitResult {
    const write = () => {
      const outcomes = commit.appends.map((append) => this.#append(append));
      const left = commit.forgets.filter((forget) => this.streams.forget(forget));
      return { outcomes, isUnswept: left.length > 0 };
    };
    const statements = countStatements(commit);
    if (statements === 0 || (statements === 1 && this.#isClaimed)) return write();
    try {
      const result = transaction(this.#database, () => {
        if (!this.#isClaimed) claimFile(this.#database, this.#writtenBy);
        return write();
      });
      this.#isClaimed = true;
      return result;
    } catch (error) {
      this.streams.forgetCache();
      this.#ends = readEnds(this.#database);
      throw error;
    }
  }

  #append({ text, count, expectedHead, streams }: Append): AppendOutcome {
    const { truncated, head } = this.#ends;
    const refusal =
      expectedHead === undefined || expectedHead === head
        ? this.streams.fenceOf(streams)
        : fenced("the log", head, expectedHead);
    if (refusal) return { fenced: refusal.message, heads: [] };
    if (count > 0) {
      const last = head + count;
      this.#database.prepare(INSERT).run(last, head + 1, Buffer.from(text));
      this.#ends = { truncated, head: last };
    }
    const heads = this.streams.append(streams);
    return { heads: expectedHead === undefined ? heads : [] };
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

  /** Needs no sync: what a power cut brings back is swept again. */
  sweep(): boolean {
    return unsynced(
      this.#database,
      () =>
        this.#batches.delete([], this.#ends.truncated) > 0 ||
        this.snapshots.sweep() ||
        this.streams.sweep(),
    );
  }

  /** Moves the write-ahead log into the file, which tells the next one that all is well. */
  close(): void {
    this.#database.close();
  }
}

/** A single statement is a transaction by itself. */
function countStatements({ appends, forgets }: Commit): number {
  let count = 2 * forgets.length;
  for (const append of appends) {
    count += Math.min(1, append.count) + 2 * append.streams.names.length;
  }
  return count;
}
