/**
 * Group commit: what is decided while an append is under way goes to the log in the next one, so
 * that a slow disk makes batches larger and callers wait for two syncs at the most.
 *
 *   decided ──▶ open batch ──▶ in flight ──▶ durable: published, callers answered
 *                                   └──────▶ failed: this batch and the open one, which built on it
 *
 * A committer serves one term of leading and is never used again once it failed or was stopped.
 */
import { encode, type Event, type Recorded } from "../core/events.ts";
import { RollcallError } from "../core/errors.ts";
import type { Log } from "../log/log.ts";

export interface CommitterOptions {
  readonly log: Log;
  readonly head: number;
  /** When the last append that succeeded was begun. */
  readonly provedAtMs: number;
  readonly monotonicMs: () => number;
  onDurable(recorded: readonly Recorded[], tookMs: number): void;
  /** Called once; callers have been told already. */
  onFailure(error: unknown): void;
}

interface Waiter {
  resolve(): void;
  reject(error: unknown): void;
}

interface Batch {
  readonly recorded: Recorded[];
  readonly waiters: Waiter[];
  bytes: number;
}

export class Committer {
  readonly #options: CommitterOptions;
  #open = emptyBatch();
  #inFlight: Batch | undefined;
  #head: number;
  #isFlushDue = false;
  #isProofDue = false;
  #isStopped = false;
  #provedAtMs: number;

  constructor(options: CommitterOptions) {
    this.#options = options;
    this.#head = options.head;
    this.#provedAtMs = options.provedAtMs;
  }

  /** The sequence of the last event decided, durable or not. */
  get head(): number {
    return this.#head;
  }

  get waiting(): number {
    return this.#open.waiters.length + (this.#inFlight?.waiters.length ?? 0);
  }

  get openBytes(): number {
    return this.#open.bytes;
  }

  /** Whether everything decided so far is durable. */
  get isSettled(): boolean {
    return this.#inFlight === undefined && this.#open.recorded.length === 0;
  }

  /** How long ago the last append that succeeded was begun: since then nobody else can lead. */
  get provedMsAgo(): number {
    return this.#options.monotonicMs() - this.#provedAtMs;
  }

  add(event: Event, atMs: number): void {
    this.#head += 1;
    const text = encode(event, atMs);
    this.#open.recorded.push({ sequence: this.#head, atMs, event, text });
    this.#open.bytes += text.length;
    this.#flushSoon();
  }

  /** Resolves when everything decided so far is durable. */
  settled(): Promise<void> {
    if (this.#isStopped) return Promise.reject(stopped());
    const batch = this.#open.recorded.length > 0 ? this.#open : this.#inFlight;
    return batch ? waitFor(batch) : Promise.resolve();
  }

  /** Resolves when an append that began after this call has succeeded: the proof of leading now. */
  proved(): Promise<void> {
    if (this.#isStopped) return Promise.reject(stopped());
    this.#isProofDue = true;
    this.#flushSoon();
    return waitFor(this.#open);
  }

  /** Fails everybody who still waits; what is in flight may yet become durable. */
  stop(error: RollcallError): void {
    if (this.#isStopped) return;
    this.#isStopped = true;
    const waiters = [...(this.#inFlight?.waiters ?? []), ...this.#open.waiters];
    this.#inFlight = undefined;
    this.#open = emptyBatch();
    for (const waiter of waiters) waiter.reject(error);
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
    const batch = this.#open;
    if (batch.recorded.length === 0 && !this.#isProofDue) return;
    this.#isProofDue = false;
    this.#open = emptyBatch();
    this.#inFlight = batch;
    const { log, monotonicMs } = this.#options;
    const startedAtMs = monotonicMs();
    const entries = batch.recorded.map(({ text }) => text);
    const expectedHead = this.#head - entries.length;
    log.append(entries, expectedHead).then(
      () => this.#durable(batch, startedAtMs),
      (error: unknown) => this.#failed(error),
    );
  }

  #durable(batch: Batch, startedAtMs: number): void {
    if (this.#isStopped) return;
    this.#provedAtMs = startedAtMs;
    this.#inFlight = undefined;
    // The next append first: the disk works while the callers of this one are answered.
    this.#flush();
    this.#options.onDurable(batch.recorded, this.#options.monotonicMs() - startedAtMs);
    for (const waiter of batch.waiters) waiter.resolve();
  }

  #failed(cause: unknown): void {
    if (this.#isStopped) return;
    const message = cause instanceof Error ? cause.message : String(cause);
    this.stop(new RollcallError("UNAVAILABLE", `could not commit: ${message}`, { cause }));
    this.#options.onFailure(cause);
  }
}

function emptyBatch(): Batch {
  return { recorded: [], waiters: [], bytes: 0 };
}

function waitFor(batch: Batch): Promise<void> {
  return new Promise((resolve, reject) => {
    batch.waiters.push({ resolve, reject });
  });
}

function stopped(): RollcallError {
  return new RollcallError("UNAVAILABLE", "this node does not lead");
}
