/**
 * A table of batches: one row per append, keyed by the last sequence in it, its entries joined by
 * newlines. A commit is one insert; a page of many small rows is glued together by SQLite itself,
 * which is three times as fast as stepping through them from JavaScript, but for a few.
 */
import type { RollcallError } from "../../core/errors.ts";
import { checkSum, checkUnchecked, extended, withIds } from "./checksum.ts";
import type { AppendIds, CheckedFile } from "./checksum.ts";
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

interface GluedPage extends Page {
  readonly count: number;
  /** The last row that has no checksum, 0 when all have one; and how many have one. */
  readonly unchecked: number;
  readonly checked: number;
}

/** A batch without its entries. */
interface BatchRow extends AppendIds {
  readonly row: number;
  readonly first: number;
  readonly last: number;
  readonly checksum: number | null;
}

type PageRow = BatchRow & Page;

type Bounds = Pick<Page, "first" | "last">;

interface PageSize {
  readonly rows: number;
  readonly bytes: number;
  readonly last: number;
}

/** The number of the stream whose batches are meant; the log has none. */
export type Scope = readonly number[];

/** Batches whose checksums go on from each other. */
export interface Chain {
  readonly scope: Scope;
  /** For messages: "the log", "stream NAME". */
  readonly what: string;
  /** The checksum before the first batch that is left. */
  readonly start: number;
}

export class Batches {
  readonly #database: Database;
  readonly #file: CheckedFile;
  readonly #table: "log" | "journal";
  readonly #measure: string;
  readonly #glue: string;
  readonly #rowsOf: string;
  readonly #newest: string;
  readonly #holding: string;
  readonly #delete: string;
  /** How many rows are likely to make a page, going by the last one. */
  #pageRows = PAGE_ROWS;

  constructor(database: Database, file: CheckedFile, table: "log" | "journal") {
    this.#database = database;
    this.#file = file;
    this.#table = table;
    const where =
      table === "log" ? "last > ? AND last <= ?" : "stream = ? AND last > ? AND last <= ?";
    const ids = table === "log" ? "id, previous" : "'' AS id, '' AS previous";
    const columns = `rowid AS row, first, last, checksum, ${ids}`;
    const found = `FROM ${table} WHERE ${where} ORDER BY last`;
    const rows = `SELECT ${columns}, entries AS bytes ${found}`;
    this.#measure = `
      SELECT count(*) AS rows, total(length(entries)) AS bytes, max(last) AS last
      FROM (SELECT last, entries FROM ${table} WHERE ${where} ORDER BY last LIMIT ?)`;
    this.#glue = `
      SELECT min(first) AS first, max(last) AS last, sum(last - first + 1) AS count,
             max(iif(checksum IS NULL, row, 0)) AS unchecked, count(checksum) AS checked,
             CAST(group_concat(bytes, char(10)) AS BLOB) AS bytes
      FROM (${rows})`;
    this.#rowsOf = rows;
    this.#newest = `SELECT ${columns} ${found} DESC LIMIT 1`;
    this.#holding = `SELECT ${columns} FROM ${table} WHERE ${where} ORDER BY last LIMIT 1`;
    this.#delete = `DELETE FROM ${table} WHERE ${where}`;
  }

  /** The first page of the span, checked; nothing when there is none. */
  read(chain: Chain, span: Span): Page | undefined {
    if (span.through - span.after <= FEW_ENTRIES) return this.#readFew(chain, span);
    const measured = this.#measurePage(chain.scope, span, PAGE_ROWS);
    if (!measured) return undefined;
    const page = this.#database
      .prepare<GluedPage>(this.#glue)
      .get(...chain.scope, span.after, measured.last);
    if (!page) return undefined;
    const { first, last, count, unchecked, checked, bytes } = page;
    if (count !== last - first + 1) throw this.#gap(chain, page);
    if (unchecked > 0) this.#checkUnchecked(chain, page, unchecked);
    if (unchecked === 0) this.#checkGlued(chain, page);
    else if (checked > 0) this.#readFew(chain, { after: span.after, through: last });
    return { first, last, bytes };
  }

  #checkGlued(chain: Chain, page: Page): void {
    const expected = this.checksumAt(chain, page.last);
    const found = extended(this.#before(chain, page.first), page.bytes);
    checkSum({ path: this.#file.path, what: named(chain, page), expected, found });
  }

  #checkUnchecked(chain: Chain, page: Bounds, row: number): void {
    const unchecked = this.#file.unchecked[this.#table];
    const what = named(chain, page);
    checkUnchecked({ path: this.#file.path, what, row, unchecked });
  }

  #readFew(chain: Chain, { after, through }: Span): Page | undefined {
    const rows = this.#database.prepare<PageRow>(this.#rowsOf).all(...chain.scope, after, through);
    let page: Page | undefined;
    let before = rows[0] ? this.#before(chain, rows[0].first) : 0;
    for (const row of rows) {
      if (page && row.first !== page.last + 1) throw this.#gap(chain, { ...page, last: row.last });
      if (page && page.bytes.length + row.bytes.length > PAGE_BYTES) break;
      before = this.#checked(chain, row, before);
      page = page ? joined(page, row) : row;
    }
    return page && { first: page.first, last: page.last, bytes: page.bytes };
  }

  /** Gives the checksum up to and including the row. */
  #checked(chain: Chain, row: PageRow, before: number): number {
    const expected = running(row);
    if (expected === null) {
      this.#checkUnchecked(chain, row, row.row);
      return chain.start;
    }
    const found = extended(before, row.bytes);
    checkSum({ path: this.#file.path, what: named(chain, row), expected, found });
    return expected;
  }

  /** The checksum before a batch that begins at `first`. */
  #before(chain: Chain, first: number): number {
    const before = this.newest(chain.scope, first - 1);
    return before?.last === first - 1 ? this.#runningOf(chain, before) : chain.start;
  }

  /** The checksum up to and including the last batch that ends at or before `through`. */
  checksumAt(chain: Chain, through: number): number {
    const newest = this.newest(chain.scope, through);
    return newest ? this.#runningOf(chain, newest) : chain.start;
  }

  #runningOf(chain: Chain, row: BatchRow): number {
    const checksum = running(row);
    if (checksum === null) this.#checkUnchecked(chain, row, row.row);
    return checksum ?? chain.start;
  }

  /** The last batch that ends at or before `through`. */
  newest(scope: Scope, through = Infinity): BatchRow | undefined {
    return this.#database.prepare<BatchRow>(this.#newest).get(...scope, 0, through);
  }

  /** The first batch that ends at or after `sequence`. */
  holding(scope: Scope, sequence: number): BatchRow | undefined {
    return this.#database.prepare<BatchRow>(this.#holding).get(...scope, sequence - 1, Infinity);
  }

  /** Every page of a span, each checked. */
  *all(chain: Chain, { after, through }: Span): Generator<Page> {
    for (let at = after; at < through;) {
      const page = this.read(chain, { after: at, through });
      if (!page) return;
      yield page;
      at = page.last;
    }
  }

  #gap(chain: Chain, page: Bounds): RollcallError {
    return corrupt(this.#file.path, `${named(chain, page)} have a gap`);
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

/** As it would be without the ids of the append. */
function running({ checksum, id, previous }: BatchRow): number | null {
  if (checksum === null || id === "") return checksum;
  return withIds(checksum, { id, previous });
}

function named({ what }: Chain, { first, last }: Bounds): string {
  return `entries ${first} to ${last} of ${what}`;
}
