/**
 * The search thread as the main thread sees it. Collections share it: agents, and cards of the
 * directory.
 *
 *             a find, or many documents                the last collection closes
 *   waiting ────────────────────────────▶ running ────────────────────────────▶ ended
 *      ▲                                     │
 *      └──── it dies: collections are told, and fill it anew
 *
 * It starts when it is first needed: it takes 28 MB, a third of them the model.
 */
import { Worker } from "node:worker_threads";
import { RollcallError } from "../core/errors.ts";
import { Collection } from "./collection.ts";
import type { RankQuery } from "./documents.ts";
import type { Embedder } from "./embedder.ts";
import { SEARCH } from "./limits.ts";
import type {
  IndexChange,
  FromSearchThread,
  SearchThreadData,
  ToSearchThread,
} from "./protocol.ts";

/** From the sources (tests) the thread runs what was built of them: Node 20 reads no TypeScript. */
const WORKER = import.meta.url.endsWith(".ts")
  ? new URL("../../dist/lib/search-worker.js", import.meta.url)
  : new URL("./search-worker.js", import.meta.url);

/** It makes much garbage while agents register; left alone, it would keep 50 MB of it. */
const LIMITS = { maxYoungGenerationSizeMb: 6 };

export interface SearchThreadOptions {
  /** The built-in model unless another is given. */
  readonly embedder?: Embedder | undefined;
  /** Something failed and is being dealt with: for the operator. */
  readonly onTrouble?: (what: string, error: unknown) => void;
}

interface Asker {
  readonly resolve: (ids: readonly string[]) => void;
  readonly reject: (error: Error) => void;
}

export class SearchThread {
  readonly embedder: Embedder | undefined;
  readonly onTrouble: (what: string, error: unknown) => void;
  readonly #collections = new Map<string, Collection>();
  readonly #asking = new Map<number, Asker>();
  #worker: Worker | undefined;
  #lastCall = 0;

  constructor({ embedder, onTrouble }: SearchThreadOptions = {}) {
    this.embedder = embedder;
    this.onTrouble = onTrouble ?? (() => undefined);
  }

  get isRunning(): boolean {
    return this.#worker !== undefined;
  }

  /** It lives until it is closed; `onLost` tells that all of it must be added anew. */
  collection(name: string, onLost: () => void): Collection {
    const collection = new Collection({ name, thread: this, onLost });
    this.#collections.set(name, collection);
    return collection;
  }

  start(): void {
    if (this.#worker) return;
    const workerData: SearchThreadData = { isEmbedding: !this.embedder };
    const worker = new Worker(WORKER, { workerData, resourceLimits: LIMITS });
    // A query that waits for its answer keeps the process alive; documents do not.
    worker.unref();
    let reason: unknown;
    worker.on("message", (message: FromSearchThread) => this.#hear(message));
    worker.on("error", (error) => (reason = error));
    worker.on("exit", () => {
      if (this.#worker === worker) this.#lose(reason);
    });
    this.#worker = worker;
  }

  send(collection: string, changes: readonly IndexChange[]): void {
    this.#post({ kind: "changes", collection, changes });
  }

  rank(collection: string, query: RankQuery): Promise<readonly string[]> {
    if (this.#asking.size >= SEARCH.waitingFinds) {
      const message = `${SEARCH.waitingFinds} finds are waiting already: try again later`;
      return Promise.reject(new RollcallError("LIMIT_EXCEEDED", message));
    }
    this.start();
    const call = (this.#lastCall += 1);
    return new Promise((resolve, reject) => {
      this.#asking.set(call, { resolve, reject });
      this.#worker?.ref();
      this.#post({ ...query, kind: "rank", collection, call });
    });
  }

  /** Called by a collection that is closed. */
  async leave(name: string): Promise<void> {
    this.#collections.delete(name);
    if (this.#collections.size > 0) return;
    const worker = this.#worker;
    this.#worker = undefined;
    this.#rejectAll(new RollcallError("UNAVAILABLE", "the search is closing"));
    await worker?.terminate();
  }

  #post(message: ToSearchThread): void {
    this.#worker?.postMessage(message);
  }

  #hear(message: FromSearchThread): void {
    if (message.kind === "taken") this.#collections.get(message.collection)?.taken(message);
    else if (message.kind === "trouble") this.onTrouble(message.what, new Error(message.message));
    else this.#answer(message.call)?.resolve(message.ids);
  }

  #answer(call: number): Asker | undefined {
    const asker = this.#asking.get(call);
    this.#asking.delete(call);
    if (this.#asking.size === 0) this.#worker?.unref();
    return asker;
  }

  #lose(reason: unknown): void {
    this.#worker = undefined;
    this.onTrouble("the search thread died and is started anew", reason);
    this.#rejectAll(new RollcallError("UNAVAILABLE", "the search thread died: try again"));
    for (const collection of this.#collections.values()) collection.lost();
  }

  #rejectAll(error: RollcallError): void {
    for (const { reject } of this.#asking.values()) reject(error);
    this.#asking.clear();
  }
}
