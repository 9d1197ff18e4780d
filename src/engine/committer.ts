/**
 * Group commit: what is decided while an append is under way goes to the log in the next one, so
 * that a slow disk makes batches larger and callers wait for two syncs at the most.
 *
 *   decided ──▶ open batch ──▶ in flight ──▶ durable: published, callers answered
 *                                   └──────▶ failed: this batch and all that were built on it
 *
 * A batch carries stream entries beside events, in one append. What goes to a stream is gathered by
 * its writer, which joins the open batch, hands its entries over when the batch closes, and is told
 * when they are durable.
 *
 * A committer serves one term of leading and is never used again once it failed or was stopped.
 */
import type { Event, RecordedEvent } from "../core/events.ts";
import { partOf, type Part } from "../core/parts.ts";
import { RollcallError } from "../core/errors.ts";
import { ENGINE } from "../core/limits.ts";
import type { Log, LogPosition } from "../log/log.ts";
import { markOf, sinceMs, type Clock, type Mark } from "../core/clock.ts";
import { emptyBatch, isEmpty, merged, MOST_BYTES, mostBytes } from "./batch.ts";
import type { Batch, StreamWriter } from "./batch.ts";

export interface CommitterOptions {
  readonly log: Log;
  readonly position: LogPosition;
  /** Of the next append. */
  readonly nextId: () => string;
  /** When the last append that succeeded was begun. */
  readonly proved: Mark;
  readonly clock: Clock;
  /** No token and no term that was handed out is above it. */
  readonly fence: () => number;
  readonly onDurable: OnDurable;
  /** Called once; callers have been told already. */
  readonly onFailure: (error: unknown) => void;
}

export type OnDurable = (recorded: readonly RecordedEvent[], append: DurableAppend) => void;

export interface DurableAppend {
  readonly id: string;
  /** Of the log, right after it. */
  readonly head: number;
  readonly tookMs: number;
}

/** How many times a small append's time a batch may gather; shorter is not worth a message. */
const GATHER = 4;
const GATHER_MIN_MS = 0.5;
/** Of an append, the part that is kept for the audit and the ends of lines. */
const ASIDE = 64;

export class Committer {
  readonly #options: CommitterOptions;
  /**
   * The most that commands put into one append together: half of what the log takes, so that the
   * stream entries that go with them have room.
   */
  readonly #batchBytes: number;
  /** The most that one command may have, alone in its append but for its entry of the audit. */
  readonly commandBytes: number;
  #open = emptyBatch();
  /** Gathered and waiting for their turn, the first first. */
  readonly #closed: Batch[] = [];
  #inFlight: Batch | undefined;
  #head: number;
  /** The last event decided that changed a part of the state. */
  readonly #heads: Record<Part, number> = { agents: 0, policies: 0 };
  #position: LogPosition;
  #isFlushDue = false;
  #isFlushLater = false;
  #isProofDue = false;
  readonly #waiting = { callers: 0, bytes: 0 };
  /** Of stream entries, until they are durable. */
  #streamBytes = 0;
  #roomWaiters: (() => void)[] = [];
  /** About what an append takes that has little to write. */
  #fastestMs = Infinity;
  #isStopped = false;
  #proved: Mark;

  constructor(options: CommitterOptions) {
    this.#options = options;
    this.#head = options.position.head;
    this.#position = options.position;
    const { appendBytes } = options.log.limits;
    this.#batchBytes = appendBytes / 2;
    this.commandBytes = appendBytes - appendBytes / ASIDE;
    this.#proved = options.proved;
  }

  /** The sequence of the last event decided, durable or not. */
  get head(): number {
    return this.#head;
  }

  /** Of the log: everything up to its head is durable. */
  get position(): LogPosition {
    return this.#position;
  }

  /** Callers that wait for an append that has not begun, and what they have to write. */
  get waiting(): { readonly callers: number; readonly bytes: number } {
    return this.#waiting;
  }

  /** Whether everything decided so far is durable. */
  get isSettled(): boolean {
    return isEmpty(this.#open) && this.#closed.length === 0 && this.#inFlight === undefined;
  }

  /** Whether everything decided so far that changes this part of the state is durable. */
  isDurable(part: Part): boolean {
    return !this.#isStopped && this.#heads[part] <= this.#position.head;
  }

  /** It takes nothing more. */
  get isStopped(): boolean {
    return this.#isStopped;
  }

  /** How long ago the last append that succeeded was begun: since then nobody else can lead. */
  get provedMsAgo(): number {
    return sinceMs(this.#options.clock, this.#proved);
  }

  /**
   * Events are about to be added that should not be torn apart: if they do not fit into the open
   * batch, the next one begins. False when they fit into none.
   */
  makeRoom(texts: readonly string[]): boolean {
    let length = 0;
    for (const text of texts) length += text.length;
    if (this.beginUnlessRoom(length)) return true;
    const bytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
    return bytes <= this.commandBytes;
  }

  /** Whether so many characters surely fit into the open batch; if not the next one begins. */
  beginUnlessRoom(length: number): boolean {
    if (mostBytes(this.#open) + MOST_BYTES * length <= this.#batchBytes) return true;
    if (isEmpty(this.#open)) return false;
    this.#closed.push(this.#close());
    this.#flush();
    return false;
  }

  add(event: Event, atMs: number, text: string): void {
    this.#head += 1;
    const part = partOf(event.type);
    if (part) this.#heads[part] = this.#head;
    this.#opened();
    this.#open.recorded.push({ sequence: this.#head, atMs, event, text });
    this.#open.bytes += text.length;
    this.#waiting.bytes += text.length;
    this.#flushLater();
  }

  /** A writer has more for its stream, of so many characters. */
  join(writer: StreamWriter, length: number): void {
    if (this.#isStopped) throw stopped();
    this.#opened();
    this.#open.writers.add(writer);
    this.#open.streamBytes += length;
    this.#streamBytes += length;
    this.#flushLater();
  }

  /** Stream entries that are not durable yet. */
  get streamBytes(): number {
    return this.#streamBytes;
  }

  /** Undefined while producers of stream entries may go on; else when they may again. */
  room(): Promise<void> | undefined {
    if (this.#isStopped) return Promise.reject(stopped());
    if (this.#open.streamBytes < ENGINE.batchStreamBytes) return undefined;
    return new Promise((resolve) => this.#roomWaiters.push(resolve));
  }

  /** Calls when everything decided and written so far is durable; never if it fails. */
  after(call: () => void): void {
    if (this.#isStopped) return;
    const batch = isEmpty(this.#open) ? (this.#closed.at(-1) ?? this.#inFlight) : this.#open;
    if (batch) batch.calls.push(call);
    else call();
  }

  #opened(): void {
    if (isEmpty(this.#open)) this.#open.openedAtMs = this.#nowMs();
  }

  /**
   * Called when all events of a caller's command were added. Callers who were answered together
   * come back together; were they all to share one batch, the disk and the rules would wait for
   * each other for ever. So where deciding takes longer than syncing, a batch is closed early and
   * the next begins: the one is written while the other is decided. With a slow disk they all go
   * together. Not so for jobs: what one says in a turn of the loop is one row, and two are dearer.
   */
  commandAdded(): void {
    if (isEmpty(this.#open)) return;
    const gatherMs = Math.max(GATHER_MIN_MS, GATHER * this.#fastestMs);
    if (this.#nowMs() - this.#open.openedAtMs < gatherMs) return;
    this.#closed.push(this.#close());
    this.#flush();
  }

  /** Gives the reply when everything decided so far is durable. */
  settled<T>(reply: T): Promise<T> {
    if (this.#isStopped) return Promise.reject(stopped());
    const batch = isEmpty(this.#open) ? (this.#closed.at(-1) ?? this.#inFlight) : this.#open;
    if (!batch) return Promise.resolve(reply);
    this.#flushSoon();
    return this.#waitFor(batch, reply);
  }

  /** Gives the reply when an append that began after this call succeeded: the proof of leading. */
  proved<T>(reply: T): Promise<T> {
    if (this.#isStopped) return Promise.reject(stopped());
    this.#isProofDue = true;
    this.#flushSoon();
    return this.#waitFor(this.#open, reply);
  }

  /** Rejects all waiting callers; a batch in flight may yet become durable. */
  stop(error: RollcallError): void {
    if (this.#isStopped) return;
    this.#isStopped = true;
    const batches = [this.#inFlight ?? emptyBatch(), ...this.#closed, this.#open];
    this.#inFlight = undefined;
    this.#closed.length = 0;
    this.#open = emptyBatch();
    for (const { waiters } of batches) for (const waiter of waiters) waiter.reject(error);
    this.#wakeProducers();
  }

  #waitFor<T>(batch: Batch, reply: T): Promise<T> {
    if (batch !== this.#inFlight) this.#waiting.callers += 1;
    return new Promise<unknown>((resolve, reject) => {
      batch.waiters.push({ reply, resolve, reject });
    }) as Promise<T>;
  }

  #nowMs(): number {
    return this.#options.clock.monotonicMs();
  }

  /** For a caller that waits: when all that came with it, by one read of a socket, is decided. */
  #flushSoon(): void {
    if (this.#isFlushDue || this.#inFlight) return;
    this.#isFlushDue = true;
    queueMicrotask(() => {
      this.#isFlushDue = false;
      this.#flush();
    });
  }

  /**
   * At the end of this turn of the loop, so that what many sockets and agents brought goes
   * together: an append costs the same for one job as for a hundred. And an agent that says one
   * thing after the other would otherwise keep sockets and timers waiting, where the store answers
   * at once.
   */
  #flushLater(): void {
    if (this.#isFlushLater || this.#inFlight) return;
    this.#isFlushLater = true;
    this.#options.clock.soon(this.#onTurnEnd);
  }

  readonly #onTurnEnd = (): void => {
    this.#isFlushLater = false;
    this.#flush();
  };

  #flush(): void {
    if (this.#isStopped || this.#inFlight) return;
    const batch = this.#takeNext();
    if (!batch) return;
    this.#inFlight = batch;
    this.#waiting.callers -= batch.waiters.length;
    this.#waiting.bytes -= batch.bytes;
    const started = markOf(this.#options.clock);
    const entries = batch.recorded.map(({ text }) => text);
    const { streams } = batch;
    const fence = this.#options.fence();
    const id = this.#options.nextId();
    this.#options.log.append({ entries, streams, fence }, this.#position, { id }).then(
      (position) => this.#durable(batch, { id, position, started }),
      (error: unknown) => this.#failed(error),
    );
  }

  /**
   * The closed batch, while the disk keeps up. When more than one waits for it, it was slow for
   * once, and all that was gathered goes together, as far as the log takes it: one append each
   * would never catch up.
   */
  #takeNext(): Batch | undefined {
    if (this.#closed.length === 1) return this.#closed.shift();
    const taken: Batch[] = [];
    let bytes = 0;
    const fits = (batch: Batch | undefined): batch is Batch => {
      if (!batch) return false;
      bytes += mostBytes(batch);
      return taken.length === 0 || bytes <= this.#batchBytes;
    };
    for (let next = this.#closed[0]; fits(next); next = this.#closed[0]) {
      taken.push(next);
      this.#closed.shift();
    }
    const open = this.#closed.length === 0 && fits(this.#open) ? this.#takeOpen() : undefined;
    if (open) taken.push(open);
    return taken.length === 0 ? undefined : merged(taken);
  }

  #takeOpen(): Batch | undefined {
    if (isEmpty(this.#open) && !this.#isProofDue) return undefined;
    this.#isProofDue = false;
    return this.#close();
  }

  /** The open batch, with all that its writers gathered; what comes now goes to the next one. */
  #close(): Batch {
    const batch = this.#open;
    this.#open = emptyBatch();
    for (const writer of batch.writers) {
      batch.streams.push({ stream: writer.stream, entries: writer.take() });
      batch.written.push(writer);
    }
    // They fill the next batch while the disk takes this one.
    this.#wakeProducers();
    return batch;
  }

  #wakeProducers(): void {
    const waiters = this.#roomWaiters;
    this.#roomWaiters = [];
    for (const go of waiters) go();
  }

  #durable(batch: Batch, { id, position, started }: Written): void {
    if (this.#isStopped) return;
    const tookMs = this.#nowMs() - started.monotonicMs;
    // Forgets slowly, so that one lucky append does not count for ever.
    this.#fastestMs = Math.min(tookMs, this.#fastestMs * 1.01);
    this.#proved = started;
    this.#position = position;
    this.#streamBytes -= batch.streamBytes;
    this.#inFlight = undefined;
    // The next append first, if callers wait for it: the disk works while others are answered.
    const isAwaited = this.#closed.length > 0 || this.#open.waiters.length > 0;
    if (isAwaited) this.#flush();
    else if (!isEmpty(this.#open)) this.#flushLater();
    this.#options.onDurable(batch.recorded, { id, head: position.head, tookMs });
    for (const { reply, resolve } of batch.waiters) resolve(reply);
    // Answers first: a job is accepted, and its cancel acknowledged, before its entries are shown.
    for (const call of batch.calls) call();
    for (const writer of batch.written) writer.onDurable();
  }

  #failed(cause: unknown): void {
    if (this.#isStopped) return;
    const message = cause instanceof Error ? cause.message : String(cause);
    this.stop(new RollcallError("UNAVAILABLE", `could not commit: ${message}`, { cause }));
    this.#options.onFailure(cause);
  }
}

/** An append that succeeded. */
interface Written {
  readonly id: string;
  /** Of the log, after it. */
  readonly position: LogPosition;
  /** When it was begun. */
  readonly started: Mark;
}

function stopped(): RollcallError {
  return new RollcallError("UNAVAILABLE", "this node does not lead");
}
