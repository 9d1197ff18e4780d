/**
 * The default store: one SQLite file, for one machine. Durable by a write-ahead log that is synced
 * on every commit; locked, so that one process at a time writes.
 *
 *   engine ─▶ SqliteLog ──┐                     main thread │ its own thread
 *   jobs ─▶ SqliteStreams ┴▶ Commits ─▶ SqliteThread ───────┼▶ sqlite-worker ─▶ the file
 *
 * SQLite has a thread of its own because a sync takes a tenth of a millisecond on a good day and
 * far longer on a bad one: heartbeats and watches must not wait for it.
 */
import { resolve } from "node:path";
import { RollcallError } from "../../core/errors.ts";
import { checkBatch, checkReach } from "../entries.ts";
import type { AppendBatch, Log, LogBatch, LogRange, Snapshot } from "../log.ts";
import { decodeText, encodeText, SNAPSHOT_BYTES, type SavedSnapshot } from "./protocol.ts";
import { SqliteSession } from "./session.ts";
import { SqliteStreams } from "./streams.ts";
import type { Store } from "../store.ts";

export interface SqliteStoreOptions {
  /** The file; its folder is made when there is none. */
  readonly path: string;
  /** Name and version of the program, for a later one that cannot read what this one writes. */
  readonly writtenBy?: string;
}

export function sqliteStore(options: SqliteStoreOptions): Store {
  const path = resolve(options.path);
  const session = new SqliteSession({ path, writtenBy: options.writtenBy ?? "rollcall" });
  return {
    description: `sqlite at ${path}`,
    log: new SqliteLog(session),
    streams: new SqliteStreams(session),
    close: () => session.close(),
  };
}

class SqliteLog implements Log {
  readonly shared = false;
  readonly #session: SqliteSession;
  #oldest = 1;

  constructor(session: SqliteSession) {
    this.#session = session;
  }

  async open(): Promise<LogRange> {
    const range = await this.#session.open();
    this.#oldest = range.oldest;
    return range;
  }

  async append(batch: AppendBatch, expectedHead: number): Promise<void> {
    checkBatch(batch);
    await this.#session.commits.appendToLog(batch, expectedHead);
    const { length } = batch.entries;
    if (length === 0) this.#session.tail.sign();
    else this.#session.tail.moveTo(expectedHead + length);
  }

  async *read(after: number): AsyncGenerator<LogBatch> {
    const span = { after, through: this.#session.tail.head };
    checkReach("the log", after, this.#oldest);
    yield* this.#session.pages("the log", span, (rest) => this.#session.call("readLog", rest));
  }

  async *follow(after: number, signal: AbortSignal): AsyncGenerator<LogBatch> {
    const ended = AbortSignal.any([signal, this.#session.closing]);
    yield* this.#session.tail.follow((position) => this.read(position), after, ended);
  }

  async saveSnapshot({ sequence, chunks }: Snapshot): Promise<void> {
    const id = await this.#session.call("beginSnapshot", sequence);
    try {
      await this.#addChunks(id, chunks);
      await this.#session.call("finishSnapshot", id);
    } catch (error) {
      await this.#session.call("dropSnapshot", id).catch(() => undefined);
      throw error;
    } finally {
      // An earlier one at the same sequence, or this one if it failed.
      this.#session.sweep().catch(() => undefined);
    }
  }

  async #addChunks(id: number, chunks: Snapshot["chunks"]): Promise<void> {
    let from = 0;
    let gathered: Uint8Array[] = [];
    let bytes = 0;
    const add = async () => {
      await this.#session.call("addChunks", { id, from, chunks: gathered });
      from += gathered.length;
      gathered = [];
      bytes = 0;
    };
    for await (const chunk of chunks) {
      const encoded = encodeText(chunk);
      gathered.push(encoded);
      bytes += encoded.length;
      if (bytes >= SNAPSHOT_BYTES) await add();
    }
    if (gathered.length > 0) await add();
  }

  async loadSnapshot(atOrBefore: number): Promise<Snapshot | undefined> {
    const saved = await this.#session.call("findSnapshot", atOrBefore);
    return saved && { sequence: saved.sequence, chunks: this.#readChunks(saved) };
  }

  async *#readChunks({ id, sequence, chunks }: SavedSnapshot): AsyncGenerator<string> {
    for (let from = 0; from < chunks;) {
      const page = await this.#session.call("readChunks", { id, from });
      if (page.length === 0) {
        const message = `the snapshot at ${sequence} was dropped while it was read`;
        throw new RollcallError("OUT_OF_RANGE", message);
      }
      for (const chunk of page) yield decodeText(chunk);
      from += page.length;
    }
  }

  async truncate(through: number): Promise<void> {
    await this.#session.call("truncate", through);
    this.#oldest = Math.max(this.#oldest, through + 1);
    await this.#session.sweep();
  }

  close(): Promise<void> {
    return this.#session.close();
  }
}
