/** The log of the NATS store; the contract is in ../log.ts. */
import { RollcallError } from "../../core/errors.ts";
import { checkAppends, checkChain, checkReach, checkSize } from "../entries.ts";
import type {
  AppendBatch,
  AppendOptions,
  Log,
  LogBatch,
  LogLimits,
  LogPosition,
  LogRange,
  Snapshot,
  StoredSnapshot,
} from "../log.ts";
import type { Writer } from "../writer.ts";
import { damaged, isPassing } from "./failure.ts";
import { locate, pageOf, type Range } from "./locate.ts";
import { changeMeta, newestMeta, readMeta } from "./meta.ts";
import { News, type Seen } from "./news.ts";
import type { NatsSession } from "./session.ts";
import { keysOf, Snapshots } from "./snapshots.ts";
import { entriesOf, firstOf, type LogEnd, type StoredMessage } from "./stored.ts";

export class NatsLog implements Log {
  readonly shared = true;
  readonly #session: NatsSession;
  readonly #writer: Writer;
  readonly #news: News;
  readonly #snapshots: Snapshots;

  constructor(session: NatsSession, writer: Writer) {
    this.#session = session;
    this.#writer = writer;
    this.#news = new News(session);
    this.#snapshots = new Snapshots({ session, idAt: (sequence) => this.#idAt(sequence) });
  }

  get limits(): LogLimits {
    return { appendBytes: this.#session.appendBytes };
  }

  open(): Promise<LogRange> {
    return this.#session.open(() => this.#oldest());
  }

  async #oldest(): Promise<number> {
    return (await readMeta(this.#session)).meta.oldest;
  }

  async append(batch: AppendBatch, at: LogPosition, options: AppendOptions): Promise<LogPosition> {
    this.#session.checkOpen();
    checkSize(batch, this.limits.appendBytes);
    checkAppends(batch.streams ?? []);
    return this.#writer.append(batch, at, options);
  }

  async *read(after: number, afterId?: string): AsyncGenerator<LogBatch> {
    this.#session.checkOpen();
    const [end, oldest] = await Promise.all([this.#session.look(), this.#oldest()]);
    checkReach("the log", after, oldest);
    yield* this.#pages(end, { at: after, id: afterId ?? "", mark: 0 });
  }

  /** From what was seen to an end of the log. */
  async *#pages(end: LogEnd, seen: Seen): AsyncGenerator<LogBatch> {
    let { at, id } = seen;
    if (at >= end.head) return checkChain(at, id, at === end.head ? end.lastId : undefined);
    const range = this.#range(end, at + 1);
    const first = await locate(this.#session, range, at + 1);
    let from = first?.sequence ?? end.mark + 1;
    let isFirst = true;
    while (at < end.head) {
      const page = await pageOf(this.#session, range, from);
      const batch = this.#batchOf(page, at);
      if (!batch) throw await this.#missing(at);
      if (isFirst) checkChain(at, id, batch.previous);
      else if (batch.previous !== id) throw damaged(this.#session.place, `its chain at ${at}`);
      isFirst = false;
      for (const message of page) this.#session.see(message);
      at += batch.entries.length;
      ({ id } = batch);
      from = batch.mark + 1;
      yield batch;
    }
  }

  #range(end: LogEnd, position: number): Range {
    const { names, spots } = this.#session;
    const last = { ...END, subject: names.entries, sequence: end.mark };
    return { subject: names.entries, last, from: spots.before(position) };
  }

  /** What a page has after a sequence: nothing, when that is not there. */
  #batchOf(page: readonly StoredMessage[], after: number): LogBatch | undefined {
    const [first] = page;
    if (!first || firstOf(first) > after + 1 || first.head <= after) return undefined;
    const entries: string[] = [];
    let { id, sequence: mark, head } = first;
    for (const [index, message] of page.entries()) {
      if (index > 0 && (firstOf(message) !== head + 1 || message.previous !== id)) {
        throw damaged(this.#session.place, `entries are missing after ${head} of the log`);
      }
      ({ id, sequence: mark, head } = message);
      for (const entry of entriesOf(message, after, this.#session.place)) entries.push(entry);
    }
    const previous = firstOf(first) <= after ? first.id : first.previous;
    return { first: after + 1, entries, mark, id, previous };
  }

  async #missing(after: number): Promise<RollcallError> {
    const { meta } = await newestMeta(this.#session);
    if (meta.oldest > after + 1) {
      return new RollcallError("OUT_OF_RANGE", `the log was truncated after ${after}`);
    }
    return damaged(this.#session.place, `entry ${after + 1} of the log is missing`);
  }

  async *follow(
    after: number,
    afterId: string | undefined,
    signal: AbortSignal,
  ): AsyncGenerator<LogBatch> {
    this.#session.checkOpen();
    const ended = AbortSignal.any([signal, this.#session.closing]);
    // Signs of life are news since this store last heard of the log.
    let seen: Seen = { at: after, id: afterId ?? "", mark: this.#session.end?.mark ?? 0 };
    const isEnded = () => ended.aborted;
    await this.#news.listen();
    for (let mustLook = true; !isEnded();) {
      const { count } = this.#news;
      const heard = mustLook ? "gap" : this.#news.after(seen);
      if (heard === undefined) {
        mustLook = !(await this.#news.next(count, ended));
        continue;
      }
      const batches = heard === "gap" ? this.#look(seen, isEnded) : [heard];
      mustLook = false;
      for await (const batch of batches) {
        if (isEnded()) return;
        const { first, entries, id, mark } = batch;
        seen = { at: first + entries.length - 1, id, mark };
        yield batch;
      }
      if (heard === "gap" && this.#news.after(seen) === "gap") {
        mustLook = !(await this.#news.next(count, ended)) || this.#news.count > count;
      }
    }
  }

  /** What a follower has not seen yet; nothing while the servers are away: it waits. */
  async *#look(seen: Seen, isEnded: () => boolean): AsyncGenerator<LogBatch> {
    try {
      const [end, oldest] = await Promise.all([this.#session.look(), this.#oldest()]);
      checkReach("the log", seen.at, oldest);
      let { mark } = seen;
      let at = seen.at;
      for await (const batch of this.#pages(end, seen)) {
        ({ mark } = batch);
        at += batch.entries.length;
        yield batch;
      }
      if (end.mark <= mark) return;
      const id = at === seen.at ? seen.id || end.lastId : end.lastId;
      yield { first: at + 1, entries: [], mark: end.mark, id, previous: id };
    } catch (error) {
      if (!isPassing(error) && !isEnded()) throw error;
    }
  }

  /** The append that wrote an entry. */
  async #idAt(sequence: number): Promise<string> {
    const end = await this.#session.look();
    if (sequence === 0) return "";
    if (sequence === end.head) return end.lastId;
    const found = await locate(this.#session, this.#range(end, sequence), sequence);
    if (!found || firstOf(found) > sequence) throw await this.#missing(sequence - 1);
    return found.id;
  }

  saveSnapshot(snapshot: Snapshot): Promise<void> {
    return this.#snapshots.save(snapshot);
  }

  loadSnapshot(atOrBefore: number): Promise<StoredSnapshot | undefined> {
    return this.#snapshots.load(atOrBefore);
  }

  /** The message that holds the last entry that goes stays: its id is where the chain goes on. */
  async truncate(through: number): Promise<void> {
    this.#session.checkOpen();
    let dropped: readonly string[] = [];
    await changeMeta(this.#session, (meta) => {
      const kept = meta.snapshots.filter(({ sequence }) => sequence >= through);
      if (kept.length === 0) {
        throw new RollcallError("WRONG_STATE", `no snapshot stands at or after ${through}`);
      }
      if (through < meta.oldest) return meta;
      dropped = keysOf(meta).filter((key) => !kept.some((each) => each.key === key));
      return { oldest: through + 1, snapshots: kept };
    });
    const { names } = this.#session;
    const end = await this.#session.look();
    const found = await locate(this.#session, this.#range(end, through), through);
    if (found) {
      const purged = { filter: names.entries, seq: found.sequence };
      await this.#session.run((each) => each.call(`STREAM.PURGE.${names.stream}`, purged));
    }
    await this.#snapshots.drop(dropped);
  }

  close(): Promise<void> {
    return this.#session.close(() => this.#writer.settled());
  }
}

/** What the messages of the log do not use. */
const END: Omit<StoredMessage, "subject" | "sequence"> = {
  head: 0,
  count: 0,
  id: "",
  previous: "",
  logId: "",
  trimmed: 0,
  life: "",
  hasMore: false,
  data: new Uint8Array(),
};
