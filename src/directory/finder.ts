/**
 * Finds entries by what they are good at, in the caller's words. The documents are brought up to
 * date with every search, and after every verification, so that nothing has to be followed.
 */
import type { CardText, DirectoryEntry } from "../core/directory.ts";
import type { State } from "../core/state.ts";
import { Documents } from "../search/documents.ts";
import { EmbeddingQueue } from "../search/embedding-queue.ts";
import type { Embedder } from "../search/embedder.ts";
import { shown } from "./shown-card.ts";

export interface FinderOptions {
  readonly embedder: Embedder;
  readonly onTrouble: (what: string, error: unknown) => void;
}

export class CardFinder {
  readonly #options: FinderOptions;
  readonly #documents = new Documents();
  readonly #embeddings: EmbeddingQueue;
  /** The card that each document was made of. */
  readonly #indexed = new Map<string, CardText>();

  constructor(options: FinderOptions) {
    this.#options = options;
    this.#embeddings = new EmbeddingQueue({
      embedder: options.embedder,
      onVector: (url, vector) => this.#documents.setVector(url, vector),
      onTrouble: options.onTrouble,
    });
  }

  /** Makes the documents what the state is. */
  update({ directory }: State): void {
    for (const { entry } of directory.byUrl.values()) this.#put(entry);
    for (const url of this.#indexed.keys()) {
      if (!directory.byUrl.get(url)?.entry.card) this.#remove(url);
    }
  }

  /** The URLs of all that are served, what fits best first. */
  async rank(query: string, signal?: AbortSignal): Promise<readonly string[]> {
    const [vector] = await Promise.all([this.#vectorOf(query, signal), this.#embeddings.settled()]);
    return this.#documents.rank({ query, vector, tools: [], limit: this.#documents.size });
  }

  close(): void {
    this.#embeddings.close();
  }

  #put({ url, card }: DirectoryEntry): void {
    if (!card || this.#indexed.get(url) === card) return;
    this.#remove(url);
    this.#indexed.set(url, card);
    const { name, description, version, skills } = shown(card).prose;
    const capabilities = skills.map((skill) => ({
      name: skill.name,
      description: [skill.description, ...skill.tags].join(" "),
    }));
    const document = { name, description, version, capabilities, tools: [], metadata: {} };
    this.#documents.add({ agentId: url, card: document, status: "alive" });
    this.#embeddings.add(url, document);
  }

  #remove(url: string): void {
    if (!this.#indexed.delete(url)) return;
    this.#documents.remove(url);
    this.#embeddings.drop(url);
  }

  /** Nothing when it cannot be made: then words must do. */
  async #vectorOf(query: string, signal?: AbortSignal): Promise<Float32Array | undefined> {
    try {
      const [vector] = await this.#options.embedder.embed([query], signal);
      return vector;
    } catch (error) {
      this.#options.onTrouble("could not embed a query", error);
      return undefined;
    }
  }
}
