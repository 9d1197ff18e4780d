/**
 * The tables of the streams. Most streams are small and come by the hundred in one commit, so the
 * first block of a stream lives in its own row: a new one is one statement. Further blocks of all
 * streams go to one table in the order they come, keyed by a small number: a commit to a thousand
 * streams touches few pages.
 */
import { crc32 } from "node:zlib";
import type { RollcallError } from "../../core/errors.ts";
import { fenced } from "../entries.ts";
import type { NamedRange, StreamRange } from "../streams.ts";
import { Batches, joined, ROW_WEIGHT, SWEEP_WEIGHT, type Chain } from "./batches.ts";
import { checksumOf, checkSum, checkUnchecked, extended, type CheckedFile } from "./checksum.ts";
import { BLOB, corrupt, type Database, type SqlValue } from "./driver.ts";
import type { Forget, Page, Span, StreamBlocks, StreamPage } from "./protocol.ts";

/** How long a first block may be to live in the stream's row: several rows share a page. */
const FIRST_BLOCK_LENGTH = 1000;
/** One statement for so many rows takes half the time of one each. */
const CREATED_AT_ONCE = 32;
/** Heads kept in memory; beyond it they are looked up again. */
const CACHED_STREAMS = 10_000;
/** Names given at once. */
const LISTED_STREAMS = 1000;

/** The checksum of a row that was removed: the sweep deletes no other one that lost its name. */
const REMOVED = -1;

const HEAD = "ifnull((SELECT max(last) FROM journal WHERE stream = stream.id), max(last, trimmed))";
const ROW = `SELECT name, id, trimmed, last, entries, checksum, base, ${HEAD} AS head FROM stream`;

/** The text of the entries as bytes. */
const FIRST_BLOCK = "(?, 0, 1, ?, CAST(? AS BLOB), ?)";
const FIRST_BLOCK_VALUES = 4;
const CREATE = "INSERT INTO stream (name, trimmed, is_swept, last, entries, checksum) VALUES ";
const THESE = "name IN (SELECT value FROM json_each(?))";

const SQL = {
  find: `${ROW} WHERE name = ?`,
  findAll: `${ROW} WHERE ${THESE}`,
  list: `${ROW} WHERE name > ? AND name >= ? AND name < ? || char(0x10ffff)
         ORDER BY name LIMIT ?`,
  create: CREATE + FIRST_BLOCK,
  createMany: CREATE + Array.from({ length: CREATED_AT_ONCE }, () => FIRST_BLOCK).join(", "),
  createEmpty: "INSERT INTO stream (name, trimmed, is_swept, checksum) VALUES (?, 0, 1, ?)",
  addBlock: `INSERT INTO journal (stream, last, first, entries, checksum)
             VALUES (?, ?, ?, ${BLOB}, ?)`,
  trim: `UPDATE stream SET trimmed = ?, is_swept = 0, entries = iif(last <= ?, NULL, entries),
                           base = ?, checksum = ?
         WHERE id = ?`,
  delete: `DELETE FROM stream
           WHERE ${THESE} AND NOT EXISTS (SELECT 1 FROM journal WHERE stream = stream.id)`,
  remove: `UPDATE stream SET name = NULL, entries = NULL, is_swept = 0, checksum = ${REMOVED}
           WHERE ${THESE}`,
  toSweep: `${ROW} WHERE is_swept = 0 LIMIT ?`,
  swept: "UPDATE stream SET is_swept = 1 WHERE id = ?",
  gone: "DELETE FROM stream WHERE id = ?",
};

interface KnownStream {
  readonly id: number;
  readonly trimmed: number;
  readonly head: number;
  /** Of all blocks, up to the head. */
  readonly running: number;
}

interface StreamRow {
  readonly id: number;
  /** None of one that was removed. */
  readonly name: string | null;
  readonly trimmed: number;
  /** The first block, where it is in the row: entries 1 to `last`. */
  readonly last: number;
  readonly entries: Uint8Array | null;
  readonly checksum: number | null;
  /** Of the blocks that were trimmed. */
  readonly base: number | null;
  readonly head: number;
}

export class StreamTables {
  readonly #database: Database;
  readonly #file: CheckedFile;
  readonly #blocks: Batches;
  readonly #cache = new Map<string, KnownStream>();

  constructor(database: Database, file: CheckedFile) {
    this.#database = database;
    this.#file = file;
    this.#blocks = new Batches(database, file, "journal");
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
      if (isNew && count > 0 && fitsInRow(text)) {
        const row = { name, trimmed: 0, last: count, base: null };
        firstBlocks.push(name, count, text, rowChecksum(row, text));
        return count;
      }
      return count > 0 ? this.#addBlock(name, count, text) : this.range(name).head;
    });
    this.#create(firstBlocks);
    return heads;
  }

  /** Afterwards every stream of these names that exists is in the cache. */
  #lookUp(names: readonly string[]): void {
    if (this.#cache.size > CACHED_STREAMS) this.#cache.clear();
    const unknown = names.filter((name) => !this.#cache.has(name));
    if (unknown.length === 0) return;
    const found = this.#database.prepare<StreamRow>(SQL.findAll).all(JSON.stringify(unknown));
    for (const row of found) this.#cache.set(row.name ?? "", this.#streamOf(row));
  }

  #streamOf(row: StreamRow): KnownStream {
    const { id, trimmed, head } = this.#checked(row);
    return { id, trimmed, head, running: this.#blocks.checksumAt(chainOf(row), Infinity) };
  }

  /** A row whose checksum holds. */
  #checked(row: StreamRow): StreamRow {
    const { path, unchecked } = this.#file;
    const what = `the row of stream ${row.name ?? row.id}`;
    if (row.checksum === null) {
      checkUnchecked({ path, what, row: row.id, unchecked: unchecked.stream });
    } else {
      const found = row.name === null ? REMOVED : rowChecksum(row, row.entries);
      checkSum({ path, what, expected: row.checksum, found });
    }
    return row;
  }

  /** New streams, each by its name, the number of its entries, these, and the checksum. */
  #create(firstBlocks: readonly SqlValue[]): void {
    for (let at = 0; at < firstBlocks.length;) {
      const many = at + CREATED_AT_ONCE * FIRST_BLOCK_VALUES;
      const end = many <= firstBlocks.length ? many : at + FIRST_BLOCK_VALUES;
      const sql = end === many ? SQL.createMany : SQL.create;
      this.#database.prepare(sql).run(...firstBlocks.slice(at, end));
      at = end;
    }
  }

  #addBlock(name: string, count: number, text: string): number {
    const stream = this.#cache.get(name) ?? this.#createEmpty(name);
    const { id, trimmed } = stream;
    const head = stream.head + count;
    const bytes = Buffer.from(text);
    const running = extended(stream.running, bytes);
    this.#database.prepare(SQL.addBlock).run(id, head, stream.head + 1, bytes, running);
    this.#cache.set(name, { id, trimmed, head, running });
    return head;
  }

  #createEmpty(name: string): KnownStream {
    const checksum = rowChecksum({ name, trimmed: 0, last: 0, base: null }, null);
    const { lastInsertRowid: id } = this.#database.prepare(SQL.createEmpty).run(name, checksum);
    return { id, trimmed: 0, head: 0, running: startOf(name) };
  }

  /** After a transaction that was rolled back. */
  forgetCache(): void {
    this.#cache.clear();
  }

  range(name: string): StreamRange {
    const { trimmed, head } = this.#cache.get(name) ?? this.#find(name) ?? NONE;
    return { oldest: trimmed + 1, head };
  }

  read(name: string, { after, through }: Span): StreamPage {
    const row = this.#find(name);
    if (!row) return { oldest: 1, head: 0, page: undefined };
    const { trimmed, head } = row;
    const isThere = after >= trimmed && after < head;
    const page = isThere ? this.#read(row, { after, through: Math.min(through, head) }) : undefined;
    return { oldest: trimmed + 1, head, page };
  }

  #read(row: StreamRow, span: Span): Page | undefined {
    const { last, entries } = row;
    const chain = chainOf(row);
    if (!entries || last <= span.after) return this.#blocks.read(chain, span);
    const first = { first: 1, last, bytes: entries };
    if (last >= span.through) return first;
    const rest = this.#blocks.read(chain, { after: last, through: span.through });
    return rest ? joined(first, rest) : first;
  }

  list(prefix: string, after: string): readonly NamedRange[] {
    return this.#list(prefix, after).map(({ name, trimmed, head }) => {
      return { stream: name ?? "", oldest: trimmed + 1, head };
    });
  }

  #list(prefix: string, after: string): readonly StreamRow[] {
    const rows = this.#database.prepare<StreamRow>(SQL.list);
    return rows.all(after, prefix, prefix, LISTED_STREAMS).map((row) => this.#checked(row));
  }

  /** Reads all of every stream, which checks it. */
  verify(): void {
    for (let after = ""; ;) {
      const rows = this.#list("", after);
      for (const row of rows) this.#verify(row);
      const last = rows.at(-1);
      if (!last) return;
      after = last.name ?? "";
    }
  }

  #verify(row: StreamRow): void {
    const { name, trimmed, last, head } = row;
    let end = row.entries ? last : trimmed;
    const span = { after: end, through: head };
    for (const page of this.#blocks.all(chainOf(row), span)) end = page.last;
    if (end !== head) throw corrupt(this.#file.path, `stream ${name} ends at ${end}, not ${head}`);
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
    const row = this.#find(name);
    const trimmed = Math.min(through, row?.head ?? 0);
    if (!row || trimmed <= row.trimmed) return false;
    const { id, last } = row;
    const entries = last <= trimmed ? null : row.entries;
    const base = entries ? null : this.#blocks.checksumAt(chainOf(row), trimmed);
    const checksum = rowChecksum({ name, trimmed, last, base }, entries);
    this.#database.prepare(SQL.trim).run(trimmed, trimmed, base, checksum, id);
    this.#cache.delete(name);
    return true;
  }

  /** Inside a transaction. */
  sweep(): boolean {
    const streams = this.#database.prepare<StreamRow>(SQL.toSweep).all(SWEEP_WEIGHT / ROW_WEIGHT);
    let weight = 0;
    for (const row of streams) {
      const { id, name, trimmed } = this.#checked(row);
      for (let deleted = Infinity; deleted > 0 && weight < SWEEP_WEIGHT; weight += deleted) {
        deleted = this.#blocks.delete([id], name === null ? Infinity : trimmed);
      }
      if (weight >= SWEEP_WEIGHT) return true;
      this.#database.prepare(name === null ? SQL.gone : SQL.swept).run(id);
      weight += ROW_WEIGHT;
    }
    return streams.length > 0;
  }

  #find(name: string): StreamRow | undefined {
    const row = this.#database.prepare<StreamRow>(SQL.find).get(name);
    return row && this.#checked(row);
  }
}

const NONE = { trimmed: 0, head: 0 };

/** A text that is bound as a parameter ends at a zero character; bytes do not. */
function fitsInRow(text: string): boolean {
  return text.length <= FIRST_BLOCK_LENGTH && !text.includes("\0");
}

type StreamDescription = Pick<StreamRow, "name" | "trimmed" | "last" | "base">;

function rowChecksum({ name, trimmed, last, base }: StreamDescription, entries: Entries): number {
  return checksumOf([name, trimmed, last, base], entries);
}

type Entries = Uint8Array | string | null;

/** The blocks of one stream are not those of another. */
function startOf(name: string): number {
  return crc32(name);
}

/** The blocks behind the first one, where that is in the row. */
function chainOf({ id, name, entries, base }: StreamRow): Chain {
  const before = base ?? startOf(name ?? "");
  const start = entries ? extended(before, entries) : before;
  return { scope: [id], what: `stream ${name ?? id}`, start };
}
