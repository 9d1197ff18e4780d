/**
 * The tables of the streams. Most streams are small and come by the hundred in one commit, so the
 * first block of a stream lives in its own row: a new one is one statement. Further blocks of all
 * streams go to one table in the order they come, keyed by a small number: a commit to a thousand
 * streams touches few pages.
 */
import type { NamedRange, StreamAppend, StreamRange } from "../streams.ts";
import { Batches, joined, ROW_WEIGHT, SWEEP_WEIGHT } from "./batches.ts";
import { BLOB, type Database } from "./driver.ts";
import type { Forget, Page, Span, StreamPage } from "./protocol.ts";

/** How large a first block may be to live in the stream's row: several rows share a page. */
const FIRST_BLOCK_BYTES = 1000;
/** Heads kept in memory; beyond it they are looked up again. */
const CACHED_STREAMS = 10_000;
/** Names given at once. */
const LISTED_STREAMS = 1000;

const HEAD = "ifnull((SELECT max(last) FROM journal WHERE stream = stream.id), max(last, trimmed))";

const SQL = {
  find: `SELECT id, trimmed, ${HEAD} AS head FROM stream WHERE name = ?`,
  list: `SELECT name AS stream, trimmed + 1 AS oldest, ${HEAD} AS head
         FROM stream WHERE name > ? AND name >= ? AND name < ? || char(0x10ffff)
         ORDER BY name LIMIT ?`,
  create: `INSERT INTO stream (name, trimmed, is_swept, last, entries)
           VALUES (?, 0, 1, ?, iif(?, ${BLOB}, NULL)) ON CONFLICT (name) DO NOTHING`,
  firstBlock: `SELECT 1 AS first, last, entries AS bytes
               FROM stream WHERE id = ? AND entries IS NOT NULL`,
  addBlock: `INSERT INTO journal (stream, last, first, entries) VALUES (?, ?, ?, ${BLOB})`,
  trim: `UPDATE stream SET trimmed = ?, is_swept = 0, entries = iif(last <= ?, NULL, entries)
         WHERE id = ?`,
  delete: `DELETE FROM stream
           WHERE name = ? AND NOT EXISTS (SELECT 1 FROM journal WHERE stream = stream.id)`,
  remove: "UPDATE stream SET name = NULL, entries = NULL, is_swept = 0 WHERE name = ?",
  toSweep: "SELECT id, name, trimmed FROM stream WHERE is_swept = 0 LIMIT ?",
  swept: "UPDATE stream SET is_swept = 1 WHERE id = ?",
  gone: "DELETE FROM stream WHERE id = ?",
};

interface Stream {
  readonly id: number;
  readonly trimmed: number;
  readonly head: number;
}

const NONE: Stream = { id: 0, trimmed: 0, head: 0 };

export class StreamTables {
  readonly #database: Database;
  readonly #blocks: Batches;
  readonly #cache = new Map<string, Stream>();

  constructor(database: Database) {
    this.#database = database;
    this.#blocks = new Batches(database, "journal");
  }

  /** Inside a transaction; gives the new head. */
  append({ stream: name, entries }: StreamAppend): number {
    const count = entries.length;
    if (count === 0) return this.range(name).head;
    const block = Buffer.from(entries.join("\n"));
    const isSmall = block.length <= FIRST_BLOCK_BYTES;
    const isNew = !this.#cache.has(name) && this.#create(name, isSmall ? count : 0, block);
    if (isNew && isSmall) return count;
    const stream = this.#get(name);
    const head = stream.head + count;
    this.#database.prepare(SQL.addBlock).run(stream.id, head, stream.head + 1, block);
    this.#remember(name, { ...stream, head });
    return head;
  }

  /** With the first so many entries; false when the stream is there already. */
  #create(name: string, head: number, block: Uint8Array): boolean {
    const { changes, lastInsertRowid: id } = this.#database
      .prepare(SQL.create)
      .run(name, head, head, head > 0 ? block : null);
    if (changes > 0) this.#remember(name, { id, trimmed: 0, head });
    return changes > 0;
  }

  /** After a transaction that was rolled back. */
  forgetCache(): void {
    this.#cache.clear();
  }

  range(name: string): StreamRange {
    const { trimmed, head } = this.#get(name);
    return { oldest: trimmed + 1, head };
  }

  read(name: string, { after, through }: Span): StreamPage {
    const { id, trimmed, head } = this.#get(name);
    const isThere = after >= trimmed && after < head;
    const page = isThere ? this.#read(id, { after, through: Math.min(through, head) }) : undefined;
    return { oldest: trimmed + 1, head, page };
  }

  #read(id: number, span: Span): Page | undefined {
    const first = this.#database.prepare<Page>(SQL.firstBlock).get(id);
    if (!first || first.last <= span.after) return this.#blocks.read([id], span);
    if (first.last >= span.through) return first;
    const rest = this.#blocks.read([id], { after: first.last, through: span.through });
    return rest ? joined(first, rest) : first;
  }

  list(prefix: string, after: string): readonly NamedRange[] {
    return this.#database.prepare<NamedRange>(SQL.list).all(after, prefix, prefix, LISTED_STREAMS);
  }

  /** Inside a transaction; takes back the rows at once or, if true, leaves them to the sweep. */
  forget({ stream: name, through }: Forget): boolean {
    if (through !== undefined) return this.#trim(name, through);
    this.#cache.delete(name);
    if (this.#database.prepare(SQL.delete).run(name).changes > 0) return false;
    return this.#database.prepare(SQL.remove).run(name).changes > 0;
  }

  #trim(name: string, through: number): boolean {
    const stream = this.#get(name);
    const trimmed = Math.min(through, stream.head);
    if (trimmed <= stream.trimmed) return false;
    this.#database.prepare(SQL.trim).run(trimmed, trimmed, stream.id);
    this.#remember(name, { ...stream, trimmed });
    return true;
  }

  /** Inside a transaction. */
  sweep(): boolean {
    const streams = this.#database
      .prepare<{ id: number; name: string | null; trimmed: number }>(SQL.toSweep)
      .all(SWEEP_WEIGHT / ROW_WEIGHT);
    let weight = 0;
    for (const { id, name, trimmed } of streams) {
      for (let deleted = Infinity; deleted > 0 && weight < SWEEP_WEIGHT; weight += deleted) {
        deleted = this.#blocks.delete([id], name === null ? Infinity : trimmed);
      }
      if (weight >= SWEEP_WEIGHT) return true;
      this.#database.prepare(name === null ? SQL.gone : SQL.swept).run(id);
      weight += ROW_WEIGHT;
    }
    return streams.length > 0;
  }

  #get(name: string): Stream {
    const cached = this.#cache.get(name);
    if (cached) return cached;
    const stream = this.#database.prepare<Stream>(SQL.find).get(name);
    if (stream) this.#remember(name, stream);
    return stream ?? NONE;
  }

  #remember(name: string, stream: Stream): void {
    if (this.#cache.size >= CACHED_STREAMS) this.#cache.clear();
    this.#cache.set(name, stream);
  }
}
