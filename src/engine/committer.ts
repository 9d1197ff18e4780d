/**
 * Group commit: what is decided while an append is under way goes to the log in the next one, so
 * that a slow disk makes batches larger and callers wait for two syncs at the most.
 *
 *   decided ──▶ open batch ──▶ in flight ──▶ durable: published, callers answered
 *                                   └──────▶ failed: this batch and all that were built on it
 *
 * A committer serves one term of leading and is never used again once it failed or was stopped.
 */
import { encode, type Event, type Recorded } from "../core/events.ts";
import { RollcallError } from "../core/errors.ts";
import type { Log } from "../log/log.ts";
import { markOf, sinceMs, type Clock, type Mark } from "../core/clock.ts";

export interface CommitterOptions {
  readonly log: Log;
  readonly head: number;
  /** When the last append that succeeded was begun. */
  readonly proved: Mark;
  readonly clock: Clock;
  readonly onDurable: (recorded: readonly Recorded[], tookMs: number) => void;
  /** Called once; callers have been told already. */
  readonly onFailure: (error: unknown) => void;
}

interface Waiter {
  readonly reply: unknown;
  readonly resolve: (reply: unknown) => void;
  readonly reject: (error: unknown) => void;
}

interface Batch {
  readonly recorded: Recorded[];
  readonly waiters: Waiter[];
  bytes: number;
  /** When its first event was added. */
  openedAtMs: number;
}

/** How many times a small append's time a batch may gather; shorter is not worth a message. */
const GATHER = 4;
const GATHER_MIN_MS = 0.5;

export class Committer {
  readonly #options: CommitterOptions;
  #open = emptyBatch();
  /** Gathered and waiting for their turn, the first first. */
  readonly #closed: Batch[] = [];
  #inFlight: Batch | undefined;
  #head: number;
  /** The head of the log: everything up to here is durable. */
  #written: number;
  #isFlushDue = false;
  #isProofDue = false;
  readonly #waiting = { callers: 0, bytes: 0 };
  /** About what an append takes that has little to write. */
  #fastestMs = Infinity;
  #isStopped = false;
  #proved: Mark;

  constructor(options: CommitterOptions) {
    this.#options = options;
    this.#head = options.head;
    this.#written = options.head;
    this.#proved = options.proved;
  }

  /** The sequence of the last event decided, durable or not. */
  get head(): number {
    return this.#head;
  }

  /** Callers that wait for an append that has not begun, and what they have to write. */
  get waiting(): { readonly callers: number; readonly bytes: number } {
    return this.#waiting;
  }

  /** Whether everything decided so far is durable. */
  get isSettled(): boolean {
    return this.#head === this.#written && this.#inFlight === undefined;
  }

  /** How long ago the last append that succeeded was begun: since then nobody else can lead. */
  get provedMsAgo(): number {
    return sinceMs(this.#options.clock, this.#proved);
  }

  add(event: Event, atMs: number): void {
    this.#head += 1;
    if (this.#open.recorded.length === 0) this.#open.openedAtMs = this.#nowMs();
    const text = encode(event, atMs);
    this.#open.recorded.push({ sequence: this.#head, atMs, event, text });
    this.#open.bytes += text.length;
    this.#waiting.bytes += text.length;
    this.#flushSoon();
  }

  /**
   * Called when all events of a command were added. Callers who were answered together come back
   * together; were they all to share one batch, the disk and the rules would wait for each other
   * for ever. So where deciding takes longer than syncing, a batch is closed early and the next
   * begins: the one is written while the other is decided. With a slow disk they all go together.
   */
  commandAdded(): void {
    const { openedAtMs, recorded } = this.#open;
    if (recorded.length === 0) return;
    const gatherMs = Math.max(GATHER_MIN_MS, GATHER * this.#fastestMs);
    if (this.#nowMs() - openedAtMs < gatherMs) return;
    this.#closed.push(this.#open);
    this.#open = emptyBatch();
    this.#flush();
  }

  /** Gives the reply when everything decided so far is durable. */
  settled<T>(reply: T): Promise<T> {
    if (this.#isStopped) return Promise.reject(stopped());
    const batch =
      this.#open.recorded.length > 0 ? this.#open : (this.#closed.at(-1) ?? this.#inFlight);
    return batch ? this.#waitFor(batch, reply) : Promise.resolve(reply);
  }

  /** Gives the reply when an append that began after this call succeeded: the proof of leading. */
  proved<T>(reply: T): Promise<T> {
    if (this.#isStopped) return Promise.reject(stopped());
    this.#isProofDue = true;
    this.#flushSoon();
    return this.#waitFor(this.#open, reply);
  }

  /** Fails everybody who still waits; what is in flight may yet become durable. */
  stop(error: RollcallError): void {
    if (this.#isStopped) return;
    this.#isStopped = true;
    const batches = [this.#inFlight ?? emptyBatch(), ...this.#closed, this.#open];
    this.#inFlight = undefined;
    this.#closed.length = 0;
    this.#open = emptyBatch();
    for (const { waiters } of batches) for (const waiter of waiters) waiter.reject(error);
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

  /** At the end of this turn, so that all that one read of a socket brought goes together. */
  #flushSoon(): void {
    if (this.#isFlushDue || this.#inFlight) return;
    this.#isFlushDue = true;
    queueMicrotask(() => {
      this.#isFlushDue = false;
      this.#flush();
    });
  }

  #flush(): void {
    if (this.#isStopped || this.#inFlight) return;
    const batch = this.#takeNext();
    if (!batch) return;
    this.#inFlight = batch;
    this.#waiting.callers -= batch.waiters.length;
    this.#waiting.bytes -= batch.bytes;
    const started = markOf(this.#options.clock);
    const entries = batch.recorded.map(({ text }) => text);
    this.#options.log.append({ entries }, this.#written).then(
      () => this.#durable(batch, started),
      (error: unknown) => this.#failed(error),
    );
  }

  /**
   * The closed batch, while the disk keeps up. When more than one waits for it, it was slow for
   * once, and all that was gathered goes together: one append each would never catch up.
   */
  #takeNext(): Batch | undefined {
    if (this.#closed.length === 1) return this.#closed.shift();
    const closed = this.#closed.splice(0);
    const open = this.#takeOpen();
    return closed.length === 0 ? open : merged(open ? [...closed, open] : closed);
  }

  #takeOpen(): Batch | undefined {
    const batch = this.#open;
    if (batch.recorded.length === 0 && !this.#isProofDue) return undefined;
    this.#isProofDue = false;
    this.#open = emptyBatch();
    return batch;
  }

  #durable(batch: Batch, started: Mark): void {
    if (this.#isStopped) return;
    const tookMs = this.#nowMs() - started.monotonicMs;
    // Forgets slowly, so that one lucky append does not count for ever.
    this.#fastestMs = Math.min(tookMs, this.#fastestMs * 1.01);
    this.#proved = started;
    this.#written += batch.recorded.length;
    this.#inFlight = undefined;
    // The next append first: the disk works while the callers of this one are answered.
    this.#flush();
    this.#options.onDurable(batch.recorded, tookMs);
    for (const { reply, resolve } of batch.waiters) resolve(reply);
  }

  #failed(cause: unknown): void {
    if (this.#isStopped) return;
    const message = cause instanceof Error ? cause.message : String(cause);
    this.stop(new RollcallError("UNAVAILABLE", `could not commit: ${message}`, { cause }));
    this.#options.onFailure(cause);
  }
}

function merged(batches: readonly Batch[]): Batch {
  return {
    recorded: batches.flatMap(({ recorded }) => recorded),
    waiters: batches.flatMap(({ waiters }) => waiters),
    bytes: batches.reduce((sum, { bytes }) => sum + bytes, 0),
    openedAtMs: batches[0]?.openedAtMs ?? 0,
  };
}

function emptyBatch(): Batch {
  return { recorded: [], waiters: [], bytes: 0, openedAtMs: 0 };
}

function stopped(): RollcallError {
  return new RollcallError("UNAVAILABLE", "this node does not lead");
}
