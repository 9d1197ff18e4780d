/**
 * The tables of the streams. Most streams are small and come by the hundred in one commit, so the
 * first block of a stream lives in its own row: a new one is one statement. Further blocks of all
 * streams go to one table in the order they come, keyed by a small number: a commit to a thousand
 * streams touches few pages.
 */
import type { RollcallError } from "../../core/errors.ts";
import { fenced } from "../entries.ts";
import type { NamedRange, StreamRange } from "../streams.ts";
import { Batches, joined, ROW_WEIGHT, SWEEP_WEIGHT } from "./batches.ts";
import { BLOB, type Database, type SqlValue } from "./driver.ts";
import type { Forget, Page, Span, StreamBlocks, StreamPage } from "./protocol.ts";

/** How long a first block may be to live in the stream's row: several rows share a page. */
const FIRST_BLOCK_LENGTH = 1000;
/** One statement for so many rows takes half the time of one each. */
const CREATED_AT_ONCE = 32;
/** Heads kept in memory; beyond it they are looked up again. */
const CACHED_STREAMS = 10_000;
/** Names given at once. */
const LISTED_STREAMS = 1000;

const HEAD = "ifnull((SELECT max(last) FROM journal WHERE stream = stream.id), max(last, trimmed))";

/** The text of the entries as bytes. */
const FIRST_BLOCK = "(?, 0, 1, ?, CAST(? AS BLOB))";
const CREATE = "INSERT INTO stream (name, trimmed, is_swept, last, entries) VALUES ";
const THESE = "name IN (SELECT value FROM json_each(?))";

const SQL = {
  find: `SELECT id, trimmed, ${HEAD} AS head FROM stream WHERE name = ?`,
  findAll: `SELECT name, id, trimmed, ${HEAD} AS head FROM stream WHERE ${THESE}`,
  list: `SELECT name AS stream, trimmed + 1 AS oldest, ${HEAD} AS head
         FROM stream WHERE name > ? AND name >= ? AND name < ? || char(0x10ffff)
         ORDER BY name LIMIT ?`,
  create: CREATE + FIRST_BLOCK,
  createMany: CREATE + Array.from({ length: CREATED_AT_ONCE }, () => FIRST_BLOCK).join(", "),
  createEmpty: "INSERT INTO stream (name, trimmed, is_swept) VALUES (?, 0, 1)",
  firstBlock: `SELECT 1 AS first, last, entries AS bytes
               FROM stream WHERE id = ? AND entries IS NOT NULL`,
  addBlock: `INSERT INTO journal (stream, last, first, entries) VALUES (?, ?, ?, ${BLOB})`,
  trim: `UPDATE stream SET trimmed = ?, is_swept = 0, entries = iif(last <= ?, NULL, entries)
         WHERE id = ?`,
  delete: `DELETE FROM stream
           WHERE ${THESE} AND NOT EXISTS (SELECT 1 FROM journal WHERE stream = stream.id)`,
  remove: `UPDATE stream SET name = NULL, entries = NULL, is_swept = 0 WHERE ${THESE}`,
  toSweep: "SELECT id, name, trimmed FROM stream WHERE is_swept = 0 LIMIT ?",
  swept: "UPDATE stream SET is_swept = 1 WHERE id = ?",
  gone: "DELETE FROM stream WHERE id = ?",
};

interface Stream {
  readonly id: number;
  readonly trimmed: number;
  readonly head: number;
}

interface NamedStream extends Stream {
  readonly name: string;
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

  /** Why an append is refused, when it is. */
  fenceOf({ names, expectedHeads }: StreamBlocks): RollcallError | undefined {
    for (const [index, name] of names.entries()) {
      const expectedHead = expectedHeads[index];
      if (expectedHead === undefined) continue;
      const { head } = this.range(name);
      if (head !== expectedHead) return fenced(`stream ${name}`, head, expectedHead);
    }
    return undefined;
  }

  /** Inside a transaction; gives the new heads. */
  append({ names, texts, counts }: StreamBlocks): readonly number[] {
    if (names.length === 0) return [];
    this.#lookUp(names);
    const firstBlocks: SqlValue[] = [];
    const heads = names.map((name, index) => {
      const [count = 0, text = ""] = [counts[index], texts[index]];
      const isNew = !this.#cache.has(name);
      if (isNew && count > 0 && text.length <= FIRST_BLOCK_LENGTH) {
        firstBlocks.push(name, count, text);
        return count;
      }
      return count > 0 ? this.#addBlock(name, count, text) : this.range(name).head;
    });
    this.#create(firstBlocks);
    return heads;
  }

  /** Those that are there are in the cache then. */
  #lookUp(names: readonly string[]): void {
    if (this.#cache.size > CACHED_STREAMS) this.#cache.clear();
    const unknown = names.filter((name) => !this.#cache.has(name));
    if (unknown.length === 0) return;
    const found = this.#database.prepare<NamedStream>(SQL.findAll).all(JSON.stringify(unknown));
    for (const { name, id, trimmed, head } of found) this.#cache.set(name, { id, trimmed, head });
  }

  /** New streams, each by its name, the number of its entries, and these. */
  #create(firstBlocks: readonly SqlValue[]): void {
    for (let at = 0; at < firstBlocks.length;) {
      const many = at + CREATED_AT_ONCE * 3;
      const end = many <= firstBlocks.length ? many : at + 3;
      const sql = end === many ? SQL.createMany : SQL.create;
      this.#database.prepare(sql).run(...firstBlocks.slice(at, end));
      at = end;
    }
  }

  #addBlock(name: string, count: number, text: string): number {
    const stream = this.#cache.get(name) ?? this.#createEmpty(name);
    const head = stream.head + count;
    this.#database.prepare(SQL.addBlock).run(stream.id, head, stream.head + 1, Buffer.from(text));
    this.#cache.set(name, { ...stream, head });
    return head;
  }

  #createEmpty(name: string): Stream {
    const { lastInsertRowid: id } = this.#database.prepare(SQL.createEmpty).run(name);
    return { id, trimmed: 0, head: 0 };
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
  forget({ streams, through }: Forget): boolean {
    if (through === undefined) return this.#remove(streams);
    return streams.filter((name) => this.#trim(name, through)).length > 0;
  }

  #remove(streams: readonly string[]): boolean {
    for (const name of streams) this.#cache.delete(name);
    const names = JSON.stringify(streams);
    const { changes } = this.#database.prepare(SQL.delete).run(names);
    if (changes === streams.length) return false;
    return this.#database.prepare(SQL.remove).run(names).changes > 0;
  }

  #trim(name: string, through: number): boolean {
    const stream = this.#get(name);
    const trimmed = Math.min(through, stream.head);
    if (trimmed <= stream.trimmed) return false;
    this.#database.prepare(SQL.trim).run(trimmed, trimmed, stream.id);
    this.#cache.set(name, { ...stream, trimmed });
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
    return this.#database.prepare<Stream>(SQL.find).get(name) ?? NONE;
  }
}
