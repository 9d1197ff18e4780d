/** The journal of the memory store: a map from the name of a stream to what is left of it. */
import { checkAppends, checkEntries, checkReach, checkStream } from "../entries.ts";
import type { Journal, JournalAppend, JournalEntry, JournalRange } from "../journal.ts";

export type MemoryStreams = Map<string, MemoryStream>;

interface MemoryStream {
  /** The entries after `trimmed`. */
  entries: string[];
  trimmed: number;
}

export class MemoryJournal implements Journal {
  readonly #streams: MemoryStreams;
  readonly #checkOpen: () => void;

  constructor(streams: MemoryStreams, checkOpen: () => void) {
    this.#streams = streams;
    this.#checkOpen = checkOpen;
  }

  async append(stream: string, entries: readonly string[]): Promise<number> {
    this.#checkOpen();
    checkStream(stream);
    checkEntries(entries);
    return this.#push(stream, entries);
  }

  async appendAll(appends: readonly JournalAppend[]): Promise<readonly number[]> {
    this.#checkOpen();
    checkAppends(appends);
    return appends.map(({ stream, entries }) => this.#push(stream, entries));
  }

  #push(stream: string, entries: readonly string[]): number {
    const kept = this.#streams.get(stream) ?? { entries: [], trimmed: 0 };
    for (const entry of entries) kept.entries.push(entry);
    if (entries.length > 0) this.#streams.set(stream, kept);
    return kept.trimmed + kept.entries.length;
  }

  async *read(stream: string, after: number): AsyncGenerator<JournalEntry> {
    this.#checkOpen();
    const kept = this.#streams.get(stream);
    if (!kept) return;
    const head = kept.trimmed + kept.entries.length;
    for (let position = after + 1; position <= head; position += 1) {
      checkReach(`stream ${stream}`, position - 1, kept.trimmed + 1);
      yield { position, entry: kept.entries[position - 1 - kept.trimmed] ?? "" };
    }
  }

  async range(stream: string): Promise<JournalRange> {
    this.#checkOpen();
    const kept = this.#streams.get(stream);
    if (!kept) return { oldest: 1, head: 0 };
    return { oldest: kept.trimmed + 1, head: kept.trimmed + kept.entries.length };
  }

  async trim(stream: string, through: number): Promise<void> {
    this.#checkOpen();
    const kept = this.#streams.get(stream);
    if (!kept || through <= kept.trimmed) return;
    const gone = Math.min(through - kept.trimmed, kept.entries.length);
    kept.entries = kept.entries.slice(gone);
    kept.trimmed += gone;
  }

  async remove(stream: string): Promise<void> {
    this.#checkOpen();
    this.#streams.delete(stream);
  }

  async *streams(prefix: string): AsyncGenerator<string> {
    this.#checkOpen();
    const names = [...this.#streams.keys()].filter((name) => name.startsWith(prefix));
    yield* names.sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
  }
}
