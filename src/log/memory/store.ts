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
import { RollcallError } from "../../core/errors.ts";
import { checkBatch, checkReach, fenced, fenceOf } from "../entries.ts";
import type { AppendBatch, Log, LogBatch, LogRange, Snapshot } from "../log.ts";
import { headOf, MemoryStreams, push, type StreamMap } from "./streams.ts";
import type { Store } from "../store.ts";
import { Tail } from "../tail.ts";

/** About how many entries one batch of a read holds: enough to be fast, few enough to be fair. */
const READ_ENTRIES = 10_000;

export class MemoryMedium {
  /** The entries after `truncated`. */
  entries: string[] = [];
  truncated = 0;
  /** The sequences at which appends ended, in order. */
  ends: number[] = [];
  readonly tail = new Tail(0);
  readonly snapshots = new Map<number, readonly string[]>();
  readonly streams: StreamMap = new Map();
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
  readonly #medium: MemoryMedium;
  readonly #closing = new AbortController();
  #isOpen = false;

  constructor(medium: MemoryMedium, shared: boolean) {
    this.#medium = medium;
    this.shared = shared;
  }

  async open(): Promise<LogRange> {
    if (this.#closing.signal.aborted) throw new RollcallError("WRONG_STATE", "the log is closed");
    this.#isOpen = true;
    return { head: this.#medium.tail.head, oldest: this.#medium.truncated + 1 };
  }

  async append(batch: AppendBatch, expectedHead: number): Promise<void> {
    this.checkOpen();
    checkBatch(batch);
    const { entries, streams = [] } = batch;
    const medium = this.#medium;
    const { head } = medium.tail;
    if (head !== expectedHead) throw fenced("the log", head, expectedHead);
    const refusal = fenceOf(streams, (stream) => headOf(medium.streams, stream));
    if (refusal) throw refusal;
    for (const append of streams) push(medium.streams, append);
    for (const entry of entries) medium.entries.push(entry);
    if (entries.length === 0) {
      medium.tail.sign();
      return;
    }
    medium.ends.push(head + entries.length);
    medium.tail.moveTo(head + entries.length);
  }

  async *read(after: number): AsyncGenerator<LogBatch> {
    this.checkOpen();
    const { head } = this.#medium.tail;
    checkReach("the log", after, this.#medium.truncated + 1);
    for (let position = after; position < head;) {
      this.checkOpen();
      const { entries, truncated, ends } = this.#medium;
      checkReach("the log", position, truncated + 1);
      const end = Math.min(head, endOfAppend(ends, position + READ_ENTRIES));
      yield { first: position + 1, entries: entries.slice(position - truncated, end - truncated) };
      position = end;
    }
  }

  async *follow(after: number, signal: AbortSignal): AsyncGenerator<LogBatch> {
    this.checkOpen();
    const ended = AbortSignal.any([signal, this.#closing.signal]);
    yield* this.#medium.tail.follow((position) => this.read(position), after, ended);
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

  async loadSnapshot(atOrBefore: number): Promise<Snapshot | undefined> {
    this.checkOpen();
    const { snapshots } = this.#medium;
    const sequence = Math.max(...[...snapshots.keys()].filter((at) => at <= atOrBefore));
    const chunks = snapshots.get(sequence);
    return chunks && { sequence, chunks };
  }

  async truncate(through: number): Promise<void> {
    this.checkOpen();
    const medium = this.#medium;
    if (through <= medium.truncated) return;
    if (Math.max(...medium.snapshots.keys()) < through) {
      throw new RollcallError("WRONG_STATE", `no snapshot stands at or after ${through}`);
    }
    medium.entries = medium.entries.slice(through - medium.truncated);
    medium.truncated = through;
    medium.ends = medium.ends.filter((end) => end > through);
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

/** The first end at or after a sequence; beyond the last one there is none. */
function endOfAppend(ends: readonly number[], sequence: number): number {
  let low = 0;
  let high = ends.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((ends[middle] ?? Infinity) < sequence) low = middle + 1;
    else high = middle;
  }
  return ends[low] ?? Infinity;
}
