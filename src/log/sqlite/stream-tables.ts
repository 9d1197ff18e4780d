/**
 * The tables of the streams. A stream is a small number, the rows of all streams are appended to
 * one table in the order they come, and an index finds those of one stream: a commit to a thousand
 * streams touches few pages.
 */
import { BLOB, type Database, type Statement } from "./driver.ts";
import { Batches } from "./batches.ts";
import type { NamedRange, StreamRange } from "../streams.ts";
import type { Batch, Page, Span } from "./protocol.ts";

/** Heads kept in memory; beyond it they are looked up again. */
const CACHED_STREAMS = 10_000;
/** Names given at once. */
const LISTED_STREAMS = 1000;

interface Stream {
  readonly id: number;
  readonly trimmed: number;
  readonly head: number;
}

export class StreamTables {
  readonly #database: Database;
  readonly #batches: Batches;
  readonly #find: Statement<Stream>;
  readonly #create: Statement<unknown>;
  readonly #insert: Statement<unknown>;
  readonly #cache = new Map<string, Stream>();
  /** Streams that were trimmed, and through where. */
  readonly #trimmed = new Map<number, number>();

  constructor(database: Database) {
    this.#database = database;
    this.#batches = new Batches(database, "journal");
    this.#find = database.prepare(
      `SELECT id, trimmed,
              ifnull((SELECT max(last) FROM journal WHERE stream = stream.id), trimmed) AS head
       FROM stream WHERE name = ?`,
    );
    this.#create = database.prepare("INSERT INTO stream (name, trimmed) VALUES (?, 0)");
    this.#insert = database.prepare(`INSERT INTO journal VALUES (?, ?, ?, ${BLOB})`);
  }

  /** Inside a transaction; gives the new head. */
  append(name: string, { count, bytes }: Batch): number {
    if (count === 0) return this.range(name).head;
    const stream = this.#get(name) ?? {
      id: this.#create.run(name).lastInsertRowid,
      trimmed: 0,
      head: 0,
    };
    const head = stream.head + count;
    this.#insert.run(stream.id, head, stream.head + 1, bytes);
    this.#remember(name, { ...stream, head });
    return head;
  }

  /** After a transaction that was rolled back. */
  forgetCache(): void {
    this.#cache.clear();
  }

  read(name: string, span: Span): Page | undefined {
    const stream = this.#get(name);
    return stream && this.#batches.read([stream.id], span);
  }

  range(name: string): StreamRange {
    const stream = this.#get(name);
    return stream ? { oldest: stream.trimmed + 1, head: stream.head } : { oldest: 1, head: 0 };
  }

  trim(name: string, through: number): void {
    const stream = this.#get(name);
    if (!stream || through <= stream.trimmed) return;
    const trimmed = Math.min(through, stream.head);
    this.#database.prepare("UPDATE stream SET trimmed = ? WHERE id = ?").run(trimmed, stream.id);
    this.#remember(name, { ...stream, trimmed });
    this.#trimmed.set(stream.id, trimmed);
  }

  remove(name: string): void {
    this.#database.prepare("UPDATE stream SET name = NULL WHERE name = ?").run(name);
    this.#cache.delete(name);
  }

  list(prefix: string, after: string): readonly NamedRange[] {
    return this.#database
      .prepare<NamedRange>(
        `SELECT name AS stream, trimmed + 1 AS oldest,
                ifnull((SELECT max(last) FROM journal WHERE stream = stream.id), trimmed) AS head
         FROM stream WHERE name > ? AND name >= ? AND name < ? || char(0x10ffff)
         ORDER BY name LIMIT ?`,
      )
      .all(after, prefix, prefix, LISTED_STREAMS);
  }

  sweep(): boolean {
    for (const [id, through] of this.#trimmed) {
      if (this.#batches.delete([id], through)) return true;
      this.#trimmed.delete(id);
    }
    const removed = this.#database
      .prepare<{ id: number }>("SELECT id FROM stream WHERE name IS NULL LIMIT 1")
      .get();
    if (!removed) return false;
    if (!this.#batches.delete([removed.id], Number.MAX_SAFE_INTEGER)) {
      this.#database.prepare("DELETE FROM stream WHERE id = ?").run(removed.id);
    }
    return true;
  }

  #get(name: string): Stream | undefined {
    const cached = this.#cache.get(name);
    if (cached) return cached;
    const stream = this.#find.get(name);
    if (stream) this.#remember(name, stream);
    return stream;
  }

  #remember(name: string, stream: Stream): void {
    if (this.#cache.size >= CACHED_STREAMS) this.#cache.clear();
    this.#cache.set(name, stream);
  }
}
