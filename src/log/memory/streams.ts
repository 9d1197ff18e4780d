/** The streams of the memory store: a map from the name of a stream to what is left of it. */
import { checkBatch, checkEntries, checkReach, checkStream, fenceOf } from "../entries.ts";
import type { NamedRange, StreamAppend, StreamBatch, StreamRange, Streams } from "../streams.ts";

/** About how many entries one page of a read holds. */
const READ_ENTRIES = 10_000;

/** Shared by all handles of one medium. */
export type StreamMap = Map<string, MemoryStream>;

interface MemoryStream {
  /** The entries after `trimmed`. */
  entries: string[];
  trimmed: number;
}

export function headOf(streams: StreamMap, stream: string): number {
  return rangeOf(streams, stream).head;
}

/** Gives the new head. */
export function push(streams: StreamMap, { stream, entries }: StreamAppend): number {
  const kept = streams.get(stream) ?? { entries: [], trimmed: 0 };
  for (const entry of entries) kept.entries.push(entry);
  if (entries.length > 0) streams.set(stream, kept);
  return kept.trimmed + kept.entries.length;
}

export function trim(streams: StreamMap, stream: string, through: number): void {
  const kept = streams.get(stream);
  if (!kept || through <= kept.trimmed) return;
  const gone = Math.min(through - kept.trimmed, kept.entries.length);
  kept.entries = kept.entries.slice(gone);
  kept.trimmed += gone;
}

function rangeOf(streams: StreamMap, stream: string): StreamRange {
  const { entries, trimmed } = streams.get(stream) ?? { entries: [], trimmed: 0 };
  return { oldest: trimmed + 1, head: trimmed + entries.length };
}

export class MemoryStreams implements Streams {
  readonly #streams: StreamMap;
  readonly #checkOpen: () => void;

  constructor(streams: StreamMap, checkOpen: () => void) {
    this.#streams = streams;
    this.#checkOpen = checkOpen;
  }

  async append(stream: string, entries: readonly string[], expectedHead?: number): Promise<number> {
    this.#checkOpen();
    checkStream(stream);
    checkEntries(entries);
    const append = { stream, entries, ...(expectedHead !== undefined && { expectedHead }) };
    const [head = 0] = this.#append([append]);
    return head;
  }

  async appendAll(appends: readonly StreamAppend[]): Promise<readonly number[]> {
    this.#checkOpen();
    checkBatch({ entries: [], streams: appends });
    return this.#append(appends);
  }

  #append(appends: readonly StreamAppend[]): readonly number[] {
    const refusal = fenceOf(appends, (stream) => headOf(this.#streams, stream));
    if (refusal) throw refusal;
    return appends.map((append) => push(this.#streams, append));
  }

  async *read(stream: string, after: number): AsyncGenerator<StreamBatch> {
    this.#checkOpen();
    const { oldest, head } = rangeOf(this.#streams, stream);
    checkReach(`stream ${stream}`, after, oldest);
    for (let position = after; position < head;) {
      this.#checkOpen();
      const { entries, trimmed } = this.#streams.get(stream) ?? { entries: [], trimmed: head };
      checkReach(`stream ${stream}`, position, trimmed + 1);
      const end = Math.min(head, position + READ_ENTRIES);
      yield { first: position + 1, entries: entries.slice(position - trimmed, end - trimmed) };
      position = end;
    }
  }

  async range(stream: string): Promise<StreamRange> {
    this.#checkOpen();
    return rangeOf(this.#streams, stream);
  }

  async *ranges(prefix: string): AsyncGenerator<NamedRange> {
    this.#checkOpen();
    const names = [...this.#streams.keys()].filter((name) => name.startsWith(prefix));
    for (const stream of names.sort(byCodePoint)) {
      if (this.#streams.has(stream)) yield { stream, ...rangeOf(this.#streams, stream) };
    }
  }

  async trim(stream: string, through: number): Promise<void> {
    this.#checkOpen();
    trim(this.#streams, stream, through);
  }

  async remove(...streams: readonly string[]): Promise<void> {
    this.#checkOpen();
    for (const stream of streams) this.#streams.delete(stream);
  }
}

function byCodePoint(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}
