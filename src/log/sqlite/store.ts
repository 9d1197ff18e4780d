/**
 * The default store: one SQLite file, for one machine. Durable by a write-ahead log that is synced
 * on every commit; locked, so that one process at a time writes, and others read beside it.
 *
 *   engine ─▶ SqliteLog ──┐                     main thread │ its own thread
 *   jobs ─▶ SqliteStreams ┴▶ Commits ─▶ SqliteThread ───────┼▶ worker ─▶ Tables ─▶ the file
 *
 * SQLite has a thread of its own because a sync takes a tenth of a millisecond on a good day and
 * far longer on a bad one: heartbeats and watches must not wait for it.
 */
import { resolve } from "node:path";
import { RollcallError } from "../../core/errors.ts";
import { LOG } from "../../core/limits.ts";
import { checkAppends, checkChain, checkReach, checkStream, fenceAt } from "../entries.ts";
import type {
  AppendBatch,
  AppendOptions,
  Log,
  LogBatch,
  LogPosition,
  LogPrograms,
  LogRange,
  Snapshot,
  StoredSnapshot,
} from "../log.ts";
import { SNAPSHOT_BYTES } from "./protocol.ts";
import type { DecodedStreamPage, Forget, SavedSnapshot, Span } from "./protocol.ts";
import { SqliteSession } from "./session.ts";
import type { Store } from "../store.ts";
import type { NamedRange, StreamAppend, StreamBatch, StreamRange, Streams } from "../streams.ts";

export interface SqliteStoreOptions {
  /** The file; its folder is made when there is none. */
  readonly path: string;
  /** Name and version of the program, for a later one that cannot read what this one writes. */
  readonly writtenBy?: string;
  /** Reads what is committed, beside the process that writes or without one. */
  readonly readOnly?: boolean;
}

export function sqliteStore(options: SqliteStoreOptions): Store {
  const { writtenBy = "rollcall", readOnly: isReader = false } = options;
  const path = resolve(options.path);
  return storeOn(new SqliteSession({ path, writtenBy, isReader }), path);
}

export function storeOn(session: SqliteSession, path: string): Store {
  return {
    description: `sqlite at ${path}`,
    log: new SqliteLog(session),
    streams: new SqliteStreams(session),
    close: () => session.close(),
  };
}

class SqliteLog implements Log {
  readonly shared = false;
  readonly limits = { appendBytes: LOG.ownAppendBytes };
  readonly #session: SqliteSession;
  #oldest = 1;

  constructor(session: SqliteSession) {
    this.#session = session;
  }

  get programs(): LogPrograms | undefined {
    return this.#session.programs;
  }

  async open(): Promise<LogRange> {
    const range = await this.#session.open();
    this.#oldest = range.oldest;
    return range;
  }

  /** The only writer: its mark is the head, and no answer is lost but with the thread. */
  async append(batch: AppendBatch, at: LogPosition, { id }: AppendOptions): Promise<LogPosition> {
    checkAppends(batch.streams ?? []);
    const { head } = at;
    const refusal = fenceAt({ head, mark: head }, at);
    if (refusal) throw refusal;
    await this.#session.commits.append(batch, { head, id });
    const { entries, fence = 0 } = batch;
    const last = head + entries.length;
    const position = { head: last, mark: last };
    if (last >= this.#session.tail.head) this.#session.moveTo(position, fence);
    return position;
  }

  async *read(after: number, afterId = ""): AsyncGenerator<LogBatch> {
    const span = { after, through: this.#session.tail.head };
    checkReach("the log", after, this.#oldest);
    if (afterId !== "") checkChain(after, afterId, await this.#session.call("idAt", after));
    const read = (rest: Span) => this.#session.call("readLog", rest);
    const range = () => this.#session.call("range", undefined);
    const pages = this.#session.pages({ what: "the log", read, range }, span);
    for await (const { first, entries, page } of pages) {
      const { last, id, previous } = page;
      yield { first, entries, mark: last, id, previous };
    }
  }

  async *follow(
    after: number,
    afterId: string | undefined,
    signal: AbortSignal,
  ): AsyncGenerator<LogBatch> {
    const ended = AbortSignal.any([signal, this.#session.closing]);
    const read = (position: number, id?: string) => this.read(position, id);
    yield* this.#session.tail.follow(read, { after, afterId }, ended);
  }

  async saveSnapshot({ sequence, chunks }: Snapshot): Promise<void> {
    const id = await this.#session.write("beginSnapshot", sequence);
    try {
      await this.#addChunks(id, chunks);
      await this.#session.write("finishSnapshot", id);
    } catch (error) {
      await this.#session.write("dropSnapshot", id).catch(() => undefined);
      throw error;
    } finally {
      // An earlier one at the same sequence, or this one if it failed.
      this.#session.sweep();
    }
  }

  async #addChunks(id: number, chunks: Snapshot["chunks"]): Promise<void> {
    let from = 0;
    let gathered: string[] = [];
    let bytes = 0;
    const add = async () => {
      await this.#session.write("addChunks", { id, from, chunks: gathered });
      from += gathered.length;
      gathered = [];
      bytes = 0;
    };
    for await (const chunk of chunks) {
      gathered.push(chunk);
      bytes += chunk.length;
      if (bytes >= SNAPSHOT_BYTES) await add();
    }
    if (gathered.length > 0) await add();
  }

  async loadSnapshot(atOrBefore: number): Promise<StoredSnapshot | undefined> {
    const saved = await this.#session.call("findSnapshot", atOrBefore);
    if (!saved) return undefined;
    const { sequence } = saved;
    const id = (await this.#session.call("idAt", sequence)) ?? "";
    return { sequence, id, chunks: this.#readChunks(saved) };
  }

  async *#readChunks({ id, sequence, chunks }: SavedSnapshot): AsyncGenerator<string> {
    const read = (from: number) => this.#session.call("readChunks", { id, from });
    let next = read(0);
    for (let from = 0; from < chunks;) {
      const page = await next;
      if (page.length === 0) {
        const message = `the snapshot at ${sequence} was dropped while it was read`;
        throw new RollcallError("OUT_OF_RANGE", message);
      }
      from += page.length;
      // On its way while the caller is busy; it rejects when it is awaited, if ever.
      if (from < chunks) next = read(from);
      next.catch(() => undefined);
      yield* page;
    }
  }

  async truncate(through: number): Promise<void> {
    await this.#session.write("truncate", through);
    this.#oldest = Math.max(this.#oldest, through + 1);
    this.#session.sweep();
  }

  close(): Promise<void> {
    return this.#session.close();
  }
}

class SqliteStreams implements Streams {
  readonly #session: SqliteSession;

  constructor(session: SqliteSession) {
    this.#session = session;
  }

  async append(stream: string, entries: readonly string[], expectedHead?: number): Promise<number> {
    checkStream(stream);
    const append = { stream, entries, ...(expectedHead !== undefined && { expectedHead }) };
    const [head = 0] = await this.#session.commits.append({ entries: [], streams: [append] });
    return head;
  }

  async appendAll(streams: readonly StreamAppend[]): Promise<readonly number[]> {
    checkAppends(streams);
    return this.#session.commits.append({ entries: [], streams });
  }

  async *read(stream: string, after: number): AsyncGenerator<StreamBatch> {
    const what = `stream ${stream}`;
    const call = (span: Span) => this.#session.call("readStream", { stream, span });
    // One call for a small stream: what is there of it, and its first page.
    let known: DecodedStreamPage | undefined = await call({ after, through: Infinity });
    const { oldest, head } = known;
    checkReach(what, after, oldest);
    const read = async (span: Span) => {
      const { page } = known ?? (await call(span));
      known = undefined;
      return page;
    };
    const range = () => this.range(stream);
    const pages = this.#session.pages({ what, read, range }, { after, through: head });
    for await (const { first, entries } of pages) yield { first, entries };
  }

  range(stream: string): Promise<StreamRange> {
    return this.#session.call("rangeOfStream", stream);
  }

  async *ranges(prefix: string): AsyncGenerator<NamedRange> {
    let after = "";
    for (;;) {
      const ranges = await this.#session.call("listStreams", { prefix, after });
      yield* ranges;
      const last = ranges.at(-1);
      if (!last) return;
      after = last.stream;
    }
  }

  async trim(stream: string, through: number): Promise<void> {
    await this.#forget({ streams: [stream], through });
  }

  async remove(...streams: readonly string[]): Promise<void> {
    await this.#forget({ streams, through: undefined });
  }

  async #forget(forget: Forget): Promise<void> {
    if (await this.#session.commits.forget(forget)) this.#session.sweep();
  }
}
