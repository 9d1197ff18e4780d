/**
 * A table of batches: one row per append, keyed by the last sequence in it, its entries joined by
 * newlines. A commit is one insert; a page of many small rows is glued together by SQLite itself,
 * which is three times as fast as stepping through them from JavaScript.
 */
import type { Database, Statement } from "./driver.ts";
import { corrupt } from "./errors.ts";
import { PAGE_BYTES, type Page, type Span } from "./protocol.ts";

/** A page of the smallest entries should not take much longer than one of large ones. */
const PAGE_ROWS = 8192;

interface Glued {
  readonly first: number;
  readonly last: number;
  readonly count: number;
  readonly bytes: Uint8Array;
}

interface Measured {
  readonly rows: number;
  readonly bytes: number;
  readonly last: number | null;
}

/** `scope` names the stream whose batches are meant; the log has none. */
export type Scope = readonly number[];

export class Batches {
  readonly #table: string;
  readonly #measure: Statement<Measured>;
  readonly #glue: Statement<Glued>;
  readonly #delete: Statement<unknown>;
  /** How many rows are likely to make a page, going by the last one. */
  #rows = PAGE_ROWS;

  constructor(database: Database, table: "log" | "journal") {
    this.#table = table;
    const where =
      table === "log" ? "last > ? AND last <= ?" : "stream = ? AND last > ? AND last <= ?";
    this.#measure = database.prepare(
      `SELECT count(*) AS rows, total(length(entries)) AS bytes, max(last) AS last
       FROM (SELECT last, entries FROM ${table} WHERE ${where} ORDER BY last LIMIT ?)`,
    );
    this.#glue = database.prepare(
      `SELECT min(first) AS first, max(last) AS last, sum(last - first + 1) AS count,
              CAST(group_concat(entries, char(10)) AS BLOB) AS bytes
       FROM (SELECT first, last, entries FROM ${table} WHERE ${where} ORDER BY last)`,
    );
    this.#delete = database.prepare(`DELETE FROM ${table} WHERE ${where}`);
  }

  /** The first page of the span; nothing when there is none. */
  read(scope: Scope, span: Span): Page | undefined {
    const through = this.#pageEnd(scope, span);
    if (through === undefined) return undefined;
    const page = this.#glue.get(...scope, span.after, through);
    if (!page) return undefined;
    if (page.count !== page.last - page.first + 1) {
      throw corrupt(`the ${this.#table}`, `entries ${page.first} to ${page.last} have a gap`);
    }
    return { first: page.first, last: page.last, bytes: page.bytes };
  }

  /** Deletes a page of the batches that end at or before `through`; false when there was none. */
  delete(scope: Scope, through: number): boolean {
    const end = this.#pageEnd(scope, { after: 0, through });
    if (end === undefined) return false;
    this.#delete.run(...scope, 0, end);
    return true;
  }

  /** Where a page ends: after at least one batch, and before there are too many bytes. */
  #pageEnd(scope: Scope, { after, through }: Span): number | undefined {
    for (;;) {
      const measured = this.#measure.get(...scope, after, through, this.#rows);
      if (!measured || measured.last === null) return undefined;
      const { rows, bytes, last } = measured;
      if (bytes < PAGE_BYTES / 2) this.#rows = Math.min(PAGE_ROWS, this.#rows * 2);
      if (bytes <= PAGE_BYTES || rows === 1) return last;
      // A little less than would fit: the next page, of much the same rows, then fits at once.
      this.#rows = Math.max(1, Math.floor((0.9 * rows * PAGE_BYTES) / bytes));
    }
  }
}
