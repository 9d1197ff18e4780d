/**
 * The store that forgets: for tests and throw-away daemons. Several handles may share one medium,
 * as several machines share a database, so a whole cluster fits in one process:
 *
 *   engine ── memoryStore({ medium }) ──┐
 *   engine ── memoryStore({ medium }) ──┼── new MemoryMedium()
 *   engine ── memoryStore({ medium }) ──┘
 *
 * Closing a handle ends what goes through that handle; the medium keeps everything.
 */
import { randomUUID } from "node:crypto";
import { RollcallError } from "../../core/errors.ts";
import { LOG } from "../../core/limits.ts";
import { checkBatch, checkChain, checkReach, checkSize, fenceAt, fenceOf } from "../entries.ts";
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
import { headOf, MemoryStreams, push, type StreamMap } from "./streams.ts";
import type { Store } from "../store.ts";
import { Tail } from "../tail.ts";

/** About how many entries one batch of a read holds: enough to be fast, few enough to be fair. */
const READ_ENTRIES = 10_000;

/** An append that wrote entries of the log. */
interface WrittenAppend {
  readonly last: number;
  readonly id: string;
  readonly mark: number;
}

export class MemoryMedium {
  readonly logId = randomUUID();
  /** The entries after `truncated`, which the append `truncatedId` wrote. */
  entries: string[] = [];
  truncated = 0;
  truncatedId = "";
  /** The appends that wrote these entries, in order. */
  appends: WrittenAppend[] = [];
  /** The newest append, with entries or without. */
  newestId = "";
  readonly tail = new Tail({ head: 0, mark: 0 });
  readonly snapshots = new Map<number, readonly string[]>();
  readonly streams: StreamMap = new Map();

  /** The append that wrote an entry; undefined when there is no such entry. */
  idAt(sequence: number): string | undefined {
    if (sequence > this.tail.head) return undefined;
    if (sequence === this.truncated) return this.truncatedId;
    return this.appends[this.indexOf(sequence)]?.id;
  }

  /** Of the first append that ends at or after a sequence. */
  indexOf(sequence: number): number {
    const { appends } = this;
    let low = 0;
    let high = appends.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((appends[middle]?.last ?? Infinity) < sequence) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

export interface MemoryStoreOptions {
  /** Given, the log is shared with every other store on it; else it is this store's own. */
  readonly medium?: MemoryMedium;
  /** Given as false, this store is the only one that writes to its medium at a time. */
  readonly shared?: boolean;
}

export function memoryStore(options: MemoryStoreOptions = {}): Store {
  const medium = options.medium ?? new MemoryMedium();
  const log = new MemoryLog(medium, options.shared ?? options.medium !== undefined);
  return {
    description: "memory",
    log,
    streams: new MemoryStreams(medium.streams, () => log.checkOpen()),
    close: () => log.close(),
  };
}

class MemoryLog implements Log {
  readonly shared: boolean;
  readonly limits: LogLimits;
  readonly #medium: MemoryMedium;
  readonly #closing = new AbortController();
  #isOpen = false;

  constructor(medium: MemoryMedium, shared: boolean) {
    this.#medium = medium;
    this.shared = shared;
    this.limits = { appendBytes: shared ? LOG.sharedAppendBytes : LOG.ownAppendBytes };
  }

  async open(): Promise<LogRange> {
    if (this.#closing.signal.aborted) throw new RollcallError("WRONG_STATE", "the log is closed");
    this.#isOpen = true;
    const { tail, truncated, logId } = this.#medium;
    const lastId = this.#medium.idAt(tail.head) ?? "";
    return { ...tail.position, oldest: truncated + 1, logId, lastId };
  }

  async append(batch: AppendBatch, at: LogPosition, { id }: AppendOptions): Promise<LogPosition> {
    this.checkOpen();
    checkBatch(batch);
    checkSize(batch, this.limits.appendBytes);
    const known = this.#known(at, id);
    if (known) return known;
    const { entries, streams = [] } = batch;
    const medium = this.#medium;
    const { tail } = medium;
    const refusal =
      fenceAt(tail.position, at) ?? fenceOf(streams, (stream) => headOf(medium.streams, stream));
    if (refusal) throw refusal;
    for (const append of streams) push(medium.streams, append);
    for (const entry of entries) medium.entries.push(entry);
    const head = at.head + entries.length;
    const mark = this.shared ? at.mark + 1 : head;
    medium.newestId = id;
    if (entries.length > 0) medium.appends.push({ last: head, id, mark });
    tail.moveTo({ head, mark });
    return tail.position;
  }

  /** Where the log stood after this append, if it is there already. */
  #known(at: LogPosition, id: string): LogPosition | undefined {
    const medium = this.#medium;
    if (medium.newestId === id) return medium.tail.position;
    const next = medium.appends[medium.indexOf(at.head + 1)];
    return next?.id === id ? { head: next.last, mark: next.mark } : undefined;
  }

  async *read(after: number, afterId = ""): AsyncGenerator<LogBatch> {
    this.checkOpen();
    const medium = this.#medium;
    const { head } = medium.tail;
    checkReach("the log", after, medium.truncated + 1);
    checkChain(after, afterId, medium.idAt(after));
    for (let position = after; position < head;) {
      this.checkOpen();
      const { entries, truncated } = medium;
      checkReach("the log", position, truncated + 1);
      const end = medium.appends[medium.indexOf(Math.min(head, position + READ_ENTRIES))];
      if (!end) return;
      yield {
        first: position + 1,
        entries: entries.slice(position - truncated, end.last - truncated),
        mark: end.mark,
        id: end.id,
        previous: medium.idAt(position) ?? "",
      };
      position = end.last;
    }
  }

  async *follow(
    after: number,
    afterId: string | undefined,
    signal: AbortSignal,
  ): AsyncGenerator<LogBatch> {
    this.checkOpen();
    const ended = AbortSignal.any([signal, this.#closing.signal]);
    const read = (position: number, id?: string) => this.read(position, id);
    yield* this.#medium.tail.follow(read, { after, afterId }, ended);
  }

  async saveSnapshot({ sequence, chunks }: Snapshot): Promise<void> {
    const saved: string[] = [];
    for await (const chunk of chunks) saved.push(chunk);
    this.checkOpen();
    const { tail, truncated, snapshots } = this.#medium;
    if (sequence > tail.head) {
      throw new RollcallError(
        "INVALID_ARGUMENT",
        `snapshot ${sequence} is above head ${tail.head}`,
      );
    }
    checkReach("the log", sequence, truncated + 1);
    snapshots.set(sequence, saved);
  }

  async loadSnapshot(atOrBefore: number): Promise<StoredSnapshot | undefined> {
    this.checkOpen();
    const { snapshots } = this.#medium;
    const sequence = Math.max(...[...snapshots.keys()].filter((at) => at <= atOrBefore));
    const chunks = snapshots.get(sequence);
    return chunks && { sequence, chunks, id: this.#medium.idAt(sequence) ?? "" };
  }

  async truncate(through: number): Promise<void> {
    this.checkOpen();
    const medium = this.#medium;
    if (through <= medium.truncated) return;
    if (Math.max(...medium.snapshots.keys()) < through) {
      throw new RollcallError("WRONG_STATE", `no snapshot stands at or after ${through}`);
    }
    medium.truncatedId = medium.idAt(through) ?? "";
    medium.entries = medium.entries.slice(through - medium.truncated);
    medium.truncated = through;
    medium.appends = medium.appends.filter(({ last }) => last > through);
    for (const sequence of medium.snapshots.keys()) {
      if (sequence < through) medium.snapshots.delete(sequence);
    }
  }

  async close(): Promise<void> {
    this.#isOpen = false;
    this.#closing.abort();
  }

  checkOpen(): void {
    if (!this.#isOpen) throw new RollcallError("WRONG_STATE", "the log is not open");
  }
}
