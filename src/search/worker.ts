/**
 * The thread that searches: it owns documents, vectors and the built-in model, so that neither a
 * burst of registrations nor a find among a million stops the thread that decides. Messages are
 * taken in order, so that a find sees whatever was sent before it.
 */
import { parentPort, workerData } from "node:worker_threads";
import { errorText } from "../core/errors.ts";
import { Documents } from "./documents.ts";
import { builtInEmbedder, textEmbedder, vectorOf } from "./embedder.ts";
import { EmbeddingQueue } from "./embedding-queue.ts";
import type {
  IndexChange,
  FromSearchThread,
  RankRequest,
  SearchThreadData,
  ToSearchThread,
} from "./protocol.ts";

const { isEmbedding } = workerData as SearchThreadData;
const embedder = builtInEmbedder();

function say(message: FromSearchThread): void {
  parentPort?.postMessage(message);
}

function onTrouble(what: string, error: unknown): void {
  say({ kind: "trouble", what, message: errorText(error) });
}

class IndexedCollection {
  readonly #name: string;
  readonly #documents = new Documents();
  readonly #embeddings = new EmbeddingQueue({
    embed: textEmbedder(embedder),
    onVector: (id, vector) => this.#documents.setVector(id, vector),
    onIdle: () => this.#taken(0),
    onTrouble,
  });

  constructor(name: string) {
    this.#name = name;
  }

  take(changes: readonly IndexChange[]): void {
    for (const change of changes) this.#apply(change);
    this.#taken(changes.length);
  }

  async rank(request: RankRequest): Promise<void> {
    const vector = request.vector ?? (await this.#embedded(request.query));
    say({ kind: "ranked", call: request.call, ids: this.#documents.rank({ ...request, vector }) });
  }

  #apply({ id, isGone, document, isAlive, vector }: IndexChange): void {
    if (isGone || document) this.#embeddings.drop(id);
    if (isGone) this.#documents.remove(id);
    if (document) {
      this.#documents.add(document);
      if (isEmbedding) this.#embeddings.add(document);
    }
    if (isAlive !== undefined) this.#documents.setAlive(id, isAlive);
    if (vector) this.#documents.setVector(id, vector);
  }

  async #embedded(query: string): Promise<Float32Array | undefined> {
    if (!isEmbedding) return undefined;
    const [vector] = await Promise.all([
      vectorOf(query, { embedder, onTrouble }),
      this.#embeddings.settled(),
    ]);
    return vector;
  }

  #taken(changes: number): void {
    const unembedded = this.#embeddings.size;
    say({ kind: "taken", collection: this.#name, changes, unembedded });
  }
}

const collections = new Map<string, IndexedCollection>();

function collection(name: string): IndexedCollection {
  const found = collections.get(name) ?? new IndexedCollection(name);
  collections.set(name, found);
  return found;
}

parentPort?.on("message", (message: ToSearchThread) => {
  if (message.kind === "changes") collection(message.collection).take(message.changes);
  else void collection(message.collection).rank(message);
});
