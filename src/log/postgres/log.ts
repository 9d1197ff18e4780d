/** The log of the Postgres store; the contract is in ../log.ts. */
import { RollcallError } from "../../core/errors.ts";
import { LOG } from "../../core/limits.ts";
import { checkAppends, checkChain, checkReach, checkSize } from "../entries.ts";
import type {
  AppendBatch,
  AppendOptions,
  Log,
  LogBatch,
  LogPosition,
  LogRange,
  Snapshot,
  StoredSnapshot,
} from "../log.ts";
import { unlessEnded } from "../retry.ts";
import type { Writer } from "../writer.ts";
import { damaged, isPassing, otherLog } from "./failure.ts";
import { Hints } from "./hints.ts";
import { entriesOf, readLogPage, type LogPage, type Span } from "./pages.ts";
import type { PostgresSession } from "./session.ts";
import { SnapshotTable } from "./snapshots.ts";

export class PostgresLog implements Log {
  readonly shared = true;
  readonly limits = { appendBytes: LOG.sharedAppendBytes };
  readonly #session: PostgresSession;
  readonly #writer: Writer;
  readonly #hints: Hints;
  readonly #snapshots: SnapshotTable;
  #mark = 0;

  constructor(session: PostgresSession, writer: Writer) {
    this.#session = session;
    this.#writer = writer;
    this.#hints = new Hints(session);
    this.#snapshots = new SnapshotTable(session);
  }

  async open(): Promise<LogRange> {
    const range = await this.#session.open();
    this.#mark = range.mark;
    return range;
  }

  async append(batch: AppendBatch, at: LogPosition, options: AppendOptions): Promise<LogPosition> {
    this.#session.checkOpen();
    checkSize(batch, this.limits.appendBytes);
    checkAppends(batch.streams ?? []);
    const position = await this.#writer.append(batch, at, options);
    this.#mark = position.mark;
    return position;
  }

  async *read(after: number, afterId?: string): AsyncGenerator<LogBatch> {
    this.#session.checkOpen();
    let page = await this.#page({ after });
    checkStart(page, after, afterId);
    const { head: through } = page;
    for (let at = after; at < through;) {
      const batch = this.#batchOf(page, at);
      if (!batch) throw this.#missing(page, at);
      at = batch.first + batch.entries.length - 1;
      const next = at < through ? this.#page({ after: at, through }) : undefined;
      // It rejects when it is awaited, if ever.
      next?.catch(() => undefined);
      yield batch;
      if (next) page = await next;
    }
  }

  async *follow(
    after: number,
    afterId: string | undefined,
    signal: AbortSignal,
  ): AsyncGenerator<LogBatch> {
    this.#session.checkOpen();
    const ended = AbortSignal.any([signal, this.#session.closing]);
    // Signs of life are news since this store last heard of the log.
    let seen: Seen = { at: after, id: afterId ?? "", mark: this.#mark };
    const isEnded = () => ended.aborted;
    let countBefore: number | undefined;
    while (!isEnded()) {
      const { count } = this.#hints;
      const page = await unlessEnded(this.#pageOrNothing({ after: seen.at }), ended);
      if (isEnded()) return;
      const batch = page && this.#news(page, seen);
      if (batch) {
        if (countBefore === count) this.#hints.missed(count);
        countBefore = undefined;
        const { first, entries, id, mark } = batch;
        seen = { at: first + entries.length - 1, id, mark };
        yield batch;
      } else {
        if (page) seen = { ...seen, mark: page.mark };
        await this.#hints.next(count, ended);
        countBefore = count;
      }
    }
  }

  /** The part of a page that a follower has not seen: entries, or only a sign of life. */
  #news(page: LogPage, { at, id: seenId, mark }: Seen): LogBatch | undefined {
    checkStart(page, at, seenId);
    const batch = this.#batchOf(page, at);
    if (batch) return batch;
    if (at < page.head) throw this.#missing(page, at);
    if (page.mark <= mark) return undefined;
    const id = seenId || page.lastId;
    return { first: at + 1, entries: [], mark: page.mark, id, previous: id };
  }

  async #page(span: Span): Promise<LogPage> {
    const session = this.#session;
    const page = await session.run((connection) => readLogPage(connection, session, span));
    if (page.logId === session.logId) return page;
    throw otherLog(session.place);
  }

  /** Nothing while the server is away: a follower waits, it does not begin anew. */
  async #pageOrNothing(span: Span): Promise<LogPage | undefined> {
    try {
      return await this.#page(span);
    } catch (error) {
      if (isPassing(error) || this.#session.closing.aborted) return undefined;
      throw error;
    }
  }

  /** The entries of a page after a sequence. */
  #batchOf({ blocks }: LogPage, after: number): LogBatch | undefined {
    const [first] = blocks;
    const last = blocks.at(-1);
    if (!first || !last || first.first > after + 1) return undefined;
    const place = { place: this.#session.place, what: "the log" };
    return {
      first: after + 1,
      entries: entriesOf(blocks, after, place),
      mark: last.mark,
      id: last.id,
      previous: first.first <= after ? first.id : first.previous,
    };
  }

  #missing({ oldest }: LogPage, after: number): RollcallError {
    if (oldest > after + 1) {
      return new RollcallError("OUT_OF_RANGE", `the log was truncated after ${after}`);
    }
    return damaged(this.#session.place, `entry ${after + 1} of the log is missing`);
  }

  saveSnapshot(snapshot: Snapshot): Promise<void> {
    return this.#snapshots.save(snapshot);
  }

  loadSnapshot(atOrBefore: number): Promise<StoredSnapshot | undefined> {
    return this.#snapshots.load(atOrBefore);
  }

  async truncate(through: number): Promise<void> {
    this.#session.checkOpen();
    const sql = `SELECT ${this.#session.schema}.truncate($1) AS refusal`;
    const [answer] = await this.#session.run((connection) =>
      connection.query<{ refusal: string }>(sql, [through]),
    );
    if (answer?.refusal !== "") {
      throw new RollcallError("WRONG_STATE", `no snapshot stands at or after ${through}`);
    }
    this.#session.sweep();
  }

  close(): Promise<void> {
    return this.#session.close(() => this.#writer.settled());
  }
}

/** How far a follower has come. */
interface Seen {
  readonly at: number;
  readonly id: string;
  readonly mark: number;
}

/** Whether a read from `after` can be served, and whether this is the log that was read before. */
function checkStart(page: LogPage, after: number, afterId = ""): void {
  checkReach("the log", after, page.oldest);
  const [first] = page.blocks;
  if (first) checkChain(after, afterId, first.first <= after ? first.id : first.previous);
  else checkChain(after, afterId, after <= page.head ? writerOfHead(page, after) : undefined);
}

/** The append that wrote the entry before all that a page could have. */
function writerOfHead({ head, oldest, lastId, baseId }: LogPage, at: number): string {
  if (at === head) return lastId;
  return at === oldest - 1 ? baseId : "";
}
