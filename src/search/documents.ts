/**
 * The index: one document per agent that is not dead, ranked by how alike its vector is to the
 * query's, plus a little for shared words and for a name that the query has (see word-index.ts;
 * the weights were chosen by the first half of the evaluation set). Tools are no matter of rank: an
 * agent has them or is left out.
 *
 * A document has a slot, its place in all arrays. The dead leave theirs empty; once more slots are
 * empty than taken, all move together. It lives on a thread of its own: see worker.ts.
 */
import { documentText, type Document } from "./document.ts";
import { SEARCH } from "./limits.ts";
import { Postings } from "./postings.ts";
import { Top } from "./top.ts";
import { Vectors } from "./vectors.ts";
import { WordIndex } from "./word-index.ts";

const WEIGHTS = { words: 0.02, names: 0.05 };

export interface RankQuery {
  readonly query: string;
  /** The query's vector; absent when it could not be made, and words must do. */
  readonly vector?: Float32Array | undefined;
  /** All of them. */
  readonly tools: readonly string[];
  readonly limit: number;
}

export class Documents {
  /** Of each slot; nothing where the document is gone. */
  #ids: (string | undefined)[] = [];
  #isAlive: boolean[] = [];
  readonly #slotOf = new Map<string, number>();
  readonly #words = new WordIndex();
  readonly #vectors = new Vectors();
  readonly #withTool = new Postings();

  get size(): number {
    return this.#slotOf.size;
  }

  /** Entries of all its parts: it follows the documents that are here, not those that were. */
  get entries(): number {
    return this.#ids.length + this.#words.size + this.#withTool.size;
  }

  /** In place of one of the same id. */
  add(document: Document): void {
    const { id, tools, isAlive } = document;
    this.remove(id);
    const slot = this.#ids.length;
    this.#slotOf.set(id, slot);
    this.#ids.push(id);
    this.#isAlive.push(isAlive);
    this.#words.add(documentText(document), document.name);
    for (const tool of new Set(tools)) this.#withTool.add(tool, slot);
  }

  setAlive(id: string, isAlive: boolean): void {
    const slot = this.#slotOf.get(id);
    if (slot !== undefined) this.#isAlive[slot] = isAlive;
  }

  setVector(id: string, vector: Float32Array): void {
    const slot = this.#slotOf.get(id);
    if (slot !== undefined) this.#vectors.set(slot, vector);
  }

  remove(id: string): void {
    const slot = this.#slotOf.get(id);
    if (slot === undefined) return;
    this.#slotOf.delete(id);
    this.#ids[slot] = undefined;
    this.#isAlive[slot] = false;
    const empty = this.#ids.length - this.#slotOf.size;
    if (empty > SEARCH.emptySlots && empty > this.#slotOf.size) this.#pack();
  }

  /** The ids of those that fit best, best first. */
  rank({ query, vector, tools, limit }: RankQuery): string[] {
    const scores = new Float32Array(this.#ids.length);
    if (vector) this.#vectors.score(vector, scores);
    this.#words.score(query, WEIGHTS, scores);
    const top = new Top(limit);
    if (tools.length === 0) {
      for (let slot = 0; slot < scores.length; slot += 1) this.#offer(slot, scores, top);
    } else {
      for (const slot of this.#withAll(tools)) this.#offer(slot, scores, top);
    }
    return top.sorted().flatMap((slot) => this.#ids[slot] ?? []);
  }

  #offer(slot: number, scores: Float32Array, top: Top): void {
    if (this.#isAlive[slot]) top.offer(slot, scores[slot] ?? 0);
  }

  #withAll(tools: readonly string[]): readonly number[] {
    const lists = tools.map((tool) => this.#withTool.get(tool));
    const [rarest, ...others] = lists.toSorted((a, b) => a.length - b.length);
    return others.reduce<readonly number[]>(common, [...(rarest ?? [])]);
  }

  #pack(): void {
    const moved = new Int32Array(this.#ids.length).fill(-1);
    const [ids, isAlive] = [this.#ids, this.#isAlive];
    this.#ids = [];
    this.#isAlive = [];
    for (const [slot, id] of ids.entries()) {
      if (id === undefined) continue;
      moved[slot] = this.#ids.length;
      this.#slotOf.set(id, this.#ids.length);
      this.#ids.push(id);
      this.#isAlive.push(isAlive[slot] ?? false);
    }
    this.#words.pack(moved);
    this.#withTool.pack((slot) => moved[slot] ?? -1);
    this.#vectors.pack(moved);
  }
}

/** The numbers that are in both; both rise. */
function common(few: readonly number[], many: Uint32Array): readonly number[] {
  let at = 0;
  return few.filter((slot) => {
    while (at < many.length && (many[at] ?? 0) < slot) at += 1;
    return many[at] === slot;
  });
}
