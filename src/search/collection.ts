/**
 * Documents on the search thread, as the main thread sees them. Changes gather for a turn and go
 * together; of one document they are one. As long as there are few documents and nobody looked for
 * one, they only gather, and no thread is needed.
 *
 *   add, remove… ──▶ unsent ──a turn, a find──▶ sent ──▶ taken by the thread
 *
 * Documents that were sent and not taken are bounded: a caller that adds many waits for `room`.
 */
import { RollcallError } from "../core/errors.ts";
import type { Document } from "./document.ts";
import { textEmbedder, vectorOf } from "./embedder.ts";
import { EmbeddingQueue } from "./embedding-queue.ts";
import { SEARCH } from "./limits.ts";
import type { IndexChange } from "./protocol.ts";
import type { SearchThread } from "./thread.ts";

export interface CollectionOptions {
  readonly name: string;
  readonly thread: SearchThread;
  readonly onLost: () => void;
}

export interface CollectionQuery {
  readonly query: string;
  readonly tools: readonly string[];
  readonly limit: number;
  readonly signal?: AbortSignal | undefined;
}

export class Collection {
  readonly #name: string;
  readonly #thread: SearchThread;
  readonly #onLost: () => void;
  readonly #ids = new Set<string>();
  /** Only where somebody else's model embeds; the built-in one is on the thread. */
  readonly #embeddings: EmbeddingQueue | undefined;
  #unsent = new Map<string, IndexChange>();
  #flushing: NodeJS.Immediate | undefined;
  #untaken = 0;
  #unembedded = 0;
  readonly #waiting: (() => void)[] = [];
  #isClosed = false;

  constructor({ name, thread, onLost }: CollectionOptions) {
    this.#name = name;
    this.#thread = thread;
    this.#onLost = onLost;
    const { embedder, onTrouble } = thread;
    if (!embedder) return;
    this.#embeddings = new EmbeddingQueue({
      embed: textEmbedder(embedder),
      onVector: (id, vector) => this.#change({ id, vector }),
      onTrouble,
    });
  }

  get size(): number {
    return this.#ids.size;
  }

  get ids(): Iterable<string> {
    return this.#ids;
  }

  /** Documents that the embedder has not come to yet. */
  get unembedded(): number {
    return this.#embeddings?.size ?? this.#unembedded;
  }

  has(id: string): boolean {
    return this.#ids.has(id);
  }

  /** In place of one of the same id. */
  add(document: Document): void {
    const { id } = document;
    this.#ids.add(id);
    this.#unsent.delete(id);
    this.#change({ id, document });
    this.#embeddings?.add(document);
  }

  setAlive(id: string, isAlive: boolean): void {
    if (this.#ids.has(id)) this.#change({ id, isAlive });
  }

  remove(id: string): void {
    if (!this.#ids.delete(id)) return;
    this.#embeddings?.drop(id);
    this.#unsent.delete(id);
    if (this.#thread.isRunning) this.#change({ id, isGone: true });
  }

  /** The ids of the living that fit best, best first; all that was added before is looked at. */
  async rank({ query, tools, limit, signal }: CollectionQuery): Promise<readonly string[]> {
    const vector = await this.#vectorOf(query, signal);
    if (this.#isClosed) throw new RollcallError("UNAVAILABLE", "the search is closing");
    this.#thread.start();
    this.#flush();
    return this.#thread.rank(this.#name, { query, vector, tools, limit });
  }

  /** Waits while the thread has too much to do already. */
  async room(): Promise<void> {
    while (this.#untaken >= SEARCH.untakenChanges) {
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
  }

  taken({ changes, unembedded }: { readonly changes: number; readonly unembedded: number }): void {
    this.#untaken -= changes;
    this.#unembedded = unembedded;
    if (this.#untaken < SEARCH.untakenChanges) this.#release();
  }

  /** The thread died with all that was in it. */
  lost(): void {
    this.#forget();
    this.#onLost();
  }

  /** Idempotent. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#embeddings?.close();
    this.#forget();
    await this.#thread.leave(this.#name);
  }

  #forget(): void {
    clearImmediate(this.#flushing);
    this.#flushing = undefined;
    this.#ids.clear();
    this.#unsent.clear();
    this.#embeddings?.dropAll();
    this.#untaken = 0;
    this.#unembedded = 0;
    this.#release();
  }

  async #vectorOf(query: string, signal?: AbortSignal): Promise<Float32Array | undefined> {
    const { embedder, onTrouble } = this.#thread;
    if (!embedder) return undefined;
    const embedding = vectorOf(query, { embedder, onTrouble, signal });
    const [vector] = await Promise.all([embedding, this.#embeddings?.settled()]);
    return vector;
  }

  #change(change: IndexChange): void {
    if (this.#isClosed) return;
    const { id } = change;
    this.#unsent.set(id, { ...this.#unsent.get(id), ...change });
    if (this.#unsent.size > SEARCH.lazyDocuments) this.#thread.start();
    if (this.#thread.isRunning) this.#flushing ??= setImmediate(() => this.#flush());
  }

  #flush(): void {
    clearImmediate(this.#flushing);
    this.#flushing = undefined;
    if (this.#unsent.size === 0) return;
    const changes = [...this.#unsent.values()];
    this.#unsent = new Map();
    this.#untaken += changes.length;
    this.#thread.send(this.#name, changes);
  }

  #release(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}
