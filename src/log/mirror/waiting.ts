/** Entries that were appended or followed here and are not in the mirror yet, in order. */
import type { LogBatch } from "../log.ts";
import { MIRROR } from "./limits.ts";

export type MirroredBatch = Pick<LogBatch, "first" | "entries" | "id" | "previous">;

export class Waiting {
  #batches: MirroredBatch[] = [];
  #bytes = 0;
  /** The newest entry that was ever heard of. */
  #head = 0;

  add(batch: MirroredBatch): void {
    const { first, entries } = batch;
    const last = this.#batches.at(-1);
    // What does not follow is read again from the shared log.
    if (last && last.first + last.entries.length !== first) this.#clear();
    this.#batches.push(batch);
    this.#bytes += entries.reduce((sum, { length }) => sum + length, 0);
    this.#head = first + entries.length - 1;
    if (this.#bytes > MIRROR.waitingBytes) this.#clear();
  }

  #clear(): void {
    this.#batches = [];
    this.#bytes = 0;
  }

  /** The log ends there, whatever was heard of. */
  reach(head: number): void {
    this.#head = head;
  }

  /** Whether entries above it were heard of. */
  isBeyond(head: number): boolean {
    return this.#head > head;
  }

  /** All that goes on from there, as one; nothing where something lies between. */
  take(head: number, lastId: string): MirroredBatch | undefined {
    const batches = this.#batches.filter(({ first, entries }) => first + entries.length > head + 1);
    this.#batches = batches;
    const [oldest] = batches;
    const newest = batches.at(-1);
    if (!oldest || !newest || oldest.first !== head + 1) return undefined;
    if (oldest.previous !== "" && lastId !== "" && oldest.previous !== lastId) return undefined;
    this.#clear();
    const entries = batches.flatMap((batch) => [...batch.entries]);
    return { first: head + 1, entries, id: newest.id, previous: lastId };
  }
}
