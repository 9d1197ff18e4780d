/**
 * A table of batches: one row per append, keyed by the last sequence in it, its entries joined by
 * newlines. A commit is one insert; a page of many small rows is glued together by SQLite itself,
 * which is three times as fast as stepping through them from JavaScript, but for a few.
 */
import type { RollcallError } from "../../core/errors.ts";
import { corrupt, type Database } from "./driver.ts";
import { PAGE_BYTES, type Page, type Span } from "./protocol.ts";

/** A page of the smallest entries should not take much longer than one of large ones. */
const PAGE_ROWS = 8192;
/** So few entries have so few rows that to step through them is faster than to measure them. */
const FEW_ENTRIES = 8;
/** To delete a row takes as long as to delete so many bytes of a large one. */
export const ROW_WEIGHT = 2048;
/** Deleted at once, in rows and bytes: an append waits two milliseconds for it. */
export const SWEEP_WEIGHT = 128 * ROW_WEIGHT;

const NEWLINE = Buffer.from("\n");

interface PageRow {
  readonly first: number;
  readonly last: number;
  readonly count: number;
  readonly bytes: Uint8Array;
}

interface PageSize {
  readonly rows: number;
  readonly bytes: number;
  readonly last: number;
}

/** The number of the stream whose batches are meant; the log has none. */
export type Scope = readonly number[];

export class Batches {
  readonly #database: Database;
  readonly #table: string;
  readonly #measure: string;
  readonly #glue: string;
  readonly #rowsOf: string;
  readonly #delete: string;
  /** How many rows are likely to make a page, going by the last one. */
  #pageRows = PAGE_ROWS;

  constructor(database: Database, table: "log" | "journal") {
    this.#database = database;
    this.#table = table;
    const where =
      table === "log" ? "last > ? AND last <= ?" : "stream = ? AND last > ? AND last <= ?";
    this.#measure = `
      SELECT count(*) AS rows, total(length(entries)) AS bytes, max(last) AS last
      FROM (SELECT last, entries FROM ${table} WHERE ${where} ORDER BY last LIMIT ?)`;
    this.#glue = `
      SELECT min(first) AS first, max(last) AS last, sum(last - first + 1) AS count,
             CAST(group_concat(entries, char(10)) AS BLOB) AS bytes
      FROM (SELECT first, last, entries FROM ${table} WHERE ${where} ORDER BY last)`;
    this.#rowsOf = `
      SELECT first, last, entries AS bytes FROM ${table} WHERE ${where} ORDER BY last`;
    this.#delete = `DELETE FROM ${table} WHERE ${where}`;
  }

  /** The first page of the span; nothing when there is none. */
  read(scope: Scope, span: Span): Page | undefined {
    if (span.through - span.after <= FEW_ENTRIES) return this.#readFew(scope, span);
    const measured = this.#measurePage(scope, span, PAGE_ROWS);
    if (!measured) return undefined;
    const page = this.#database
      .prepare<PageRow>(this.#glue)
      .get(...scope, span.after, measured.last);
    if (!page) return undefined;
    if (page.count !== page.last - page.first + 1) throw this.#gap(page);
    return { first: page.first, last: page.last, bytes: page.bytes };
  }

  #readFew(scope: Scope, { after, through }: Span): Page | undefined {
    const rows = this.#database.prepare<Page>(this.#rowsOf).all(...scope, after, through);
    let page = rows.shift();
    for (const row of rows) {
      if (!page || page.bytes.length + row.bytes.length > PAGE_BYTES) break;
      if (row.first !== page.last + 1) throw this.#gap({ first: page.first, last: row.last });
      page = joined(page, row);
    }
    return page;
  }

  #gap({ first, last }: { readonly first: number; readonly last: number }): RollcallError {
    return corrupt(`the ${this.#table}`, `entries ${first} to ${last} have a gap`);
  }

  /** Deletes some of the batches that end at or before `through`; gives their weight. */
  delete(scope: Scope, through: number): number {
    const measured = this.#measurePage(scope, { after: 0, through }, SWEEP_WEIGHT / ROW_WEIGHT);
    if (!measured) return 0;
    this.#database.prepare(this.#delete).run(...scope, 0, measured.last);
    return measured.bytes + measured.rows * ROW_WEIGHT;
  }

  /** The rows of a page: at least one, and no more than have few enough bytes. */
  #measurePage(scope: Scope, { after, through }: Span, maxRows: number): PageSize | undefined {
    for (;;) {
      const measured = this.#database
        .prepare<PageSize>(this.#measure)
        .get(...scope, after, through, Math.min(maxRows, this.#pageRows));
      if (!measured || measured.rows === 0) return undefined;
      const { rows, bytes } = measured;
      if (bytes < PAGE_BYTES / 2) this.#pageRows = Math.min(PAGE_ROWS, this.#pageRows * 2);
      if (bytes <= PAGE_BYTES || rows === 1) return measured;
      // A little less than would fit: the next page, of much the same rows, then fits at once.
      this.#pageRows = Math.max(1, Math.floor((0.9 * rows * PAGE_BYTES) / bytes));
    }
  }
}

/** A page and the one that follows it. */
export function joined(page: Page, next: Page): Page {
  const bytes = Buffer.concat([page.bytes, NEWLINE, next.bytes]);
  return { first: page.first, last: next.last, bytes };
}
