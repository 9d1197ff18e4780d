/**
 * Finds entries by what they are good at, in the caller's words. Documents are brought up to date
 * with every search, in short turns and only when another card is served than before; one that was
 * just verified is added at once. So nothing has to be followed.
 */
import type { CardText, Directory, DirectoryEntry } from "../core/directory.ts";
import { inSlices, LONG_STEPS } from "../machine/slices.ts";
import type { Collection } from "../search/collection.ts";
import { documentOf } from "../search/document.ts";
import type { SearchThread } from "../search/thread.ts";
import { shownCardOf } from "./shown-card.ts";

export class CardFinder {
  readonly #documents: Collection;
  /** The card that each document was made of. */
  readonly #indexed = new Map<string, CardText>();
  /** The directory that the documents were last made of, and its revision. */
  #seen: { readonly directory: Directory; readonly revision: number } | undefined;
  /** How often the documents were lost. */
  #losses = 0;

  constructor(thread: SearchThread) {
    this.#documents = thread.collection("cards", () => {
      this.#indexed.clear();
      this.#seen = undefined;
      this.#losses += 1;
    });
  }

  /** Makes the documents what the directory is. */
  async update(directory: Directory): Promise<void> {
    const { revision } = directory;
    if (this.#seen?.directory === directory && this.#seen.revision === revision) return;
    const losses = this.#losses;
    await inSlices(this.#compare(directory), LONG_STEPS);
    if (losses === this.#losses) this.#seen = { directory, revision };
  }

  put({ url, card }: DirectoryEntry): void {
    if (!card || this.#indexed.get(url) === card) return;
    this.#indexed.set(url, card);
    const { name, description, skills } = shownCardOf(card).prose;
    const capabilities = skills.map((skill) => ({
      name: skill.name,
      description: [skill.description, ...skill.tags].join(" "),
    }));
    this.#documents.add(documentOf(url, { name, description, capabilities, tools: [] }, true));
  }

  /** The URLs of those that are served, what fits best first. */
  rank(query: string, limit: number): Promise<readonly string[]> {
    return this.#documents.rank({ query, tools: [], limit });
  }

  close(): Promise<void> {
    return this.#documents.close();
  }

  *#compare({ byUrl }: Directory): Generator<void, void> {
    for (const { entry } of byUrl.values()) {
      this.put(entry);
      yield;
    }
    for (const url of this.#indexed.keys()) {
      if (!byUrl.get(url)?.entry.card) this.#remove(url);
      yield;
    }
  }

  #remove(url: string): void {
    this.#indexed.delete(url);
    this.#documents.remove(url);
  }
}
