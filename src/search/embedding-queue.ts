/**
 * Embeds documents in order of arrival, a batch at a time, in the background. When the embedder
 * fails, they are retried with exponential back-off; callers that wait for them are released,
 * because words find them meanwhile.
 */
import type { Document } from "./document.ts";
import type { DocumentEmbedder } from "./embedder.ts";
import { SEARCH } from "./limits.ts";
import { pauseFor, doneWithin } from "./waiting.ts";

export interface EmbeddingQueueOptions {
  readonly embed: DocumentEmbedder;
  readonly onVector: (id: string, vector: Float32Array) => void;
  /** All have their vectors. */
  readonly onIdle?: () => void;
  readonly onTrouble: (what: string, error: unknown) => void;
}

interface QueueWaiter {
  readonly upTo: number;
  readonly resolve: () => void;
}

export class EmbeddingQueue {
  readonly #options: EmbeddingQueueOptions;
  readonly #closing = new AbortController();
  readonly #documents = new Map<string, { readonly number: number; readonly document: Document }>();
  #added = 0;
  #isFailing = false;
  #waiting: QueueWaiter[] = [];
  #isRunning = false;

  constructor(options: EmbeddingQueueOptions) {
    this.#options = options;
  }

  /** How many have no vector yet. */
  get size(): number {
    return this.#documents.size;
  }

  add(document: Document): void {
    if (this.#closing.signal.aborted) return;
    this.#added += 1;
    this.#documents.set(document.id, { number: this.#added, document });
    if (!this.#isRunning) void this.#run();
  }

  drop(id: string): void {
    this.#documents.delete(id);
  }

  dropAll(): void {
    this.#documents.clear();
  }

  /** Resolves when all that were added before have their vectors, or have to wait too long. */
  async settled(): Promise<void> {
    if (this.#documents.size === 0 || this.#isFailing) return;
    let waiting: QueueWaiter | undefined;
    const done = new Promise<void>((resolve) => {
      waiting = { upTo: this.#added, resolve };
      this.#waiting.push(waiting);
    });
    await doneWithin(SEARCH.settleMs, done);
    this.#waiting = this.#waiting.filter((each) => each !== waiting);
  }

  /** Does not wait for the embedder, which may not heed its signal: its answer is dropped. */
  close(): void {
    this.#closing.abort();
    this.dropAll();
    this.#release(Infinity);
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    let retryMs: number = SEARCH.firstRetryMs;
    // Further documents of this turn join the batch.
    await Promise.resolve();
    while (this.#documents.size > 0) {
      try {
        await this.#embedSome();
        this.#isFailing = false;
        retryMs = SEARCH.firstRetryMs;
      } catch (error) {
        if (this.#closing.signal.aborted) return;
        this.#isFailing = true;
        this.#release(Infinity);
        this.#options.onTrouble("could not embed agents", error);
        await pauseFor(retryMs, this.#closing.signal);
        retryMs = Math.min(2 * retryMs, SEARCH.lastRetryMs);
      }
    }
    this.#isRunning = false;
    this.#release(Infinity);
    this.#options.onIdle?.();
  }

  async #embedSome(): Promise<void> {
    const batch = first(this.#documents, SEARCH.textsPerBatch);
    const documents = batch.map(([, { document }]) => document);
    const vectors = await this.#options.embed(documents, this.#closing.signal);
    for (const [i, [id, { number }]] of batch.entries()) {
      const vector = vectors[i];
      if (!vector) throw new Error(`the embedder gave ${vectors.length} of ${batch.length}`);
      // The document was dropped or replaced meanwhile.
      if (this.#documents.get(id)?.number !== number) continue;
      this.#options.onVector(id, vector);
      this.#documents.delete(id);
    }
    const next = this.#documents.values().next().value;
    this.#release(next ? next.number - 1 : Infinity);
    if (next) await pauseFor(0, this.#closing.signal);
  }

  #release(upTo: number): void {
    this.#waiting = this.#waiting.filter((each) => {
      if (each.upTo > upTo) return true;
      each.resolve();
      return false;
    });
  }
}

function first<T>(all: Iterable<T>, max: number): T[] {
  const taken: T[] = [];
  for (const each of all) {
    if (taken.length === max) break;
    taken.push(each);
  }
  return taken;
}
