/**
 * All that one store holds, copied into another of any kind: the entries of the log with their
 * sequences, the ids of their appends, its snapshots, and the streams. Backups of a shared log,
 * their restoring, and the move of a log to another store are this copy.
 *
 * The copy is read back and compared with what was read, so that what is wrong with either store is
 * known before anybody trusts it.
 *
 * A log that was truncated, or a stream that was trimmed, does not begin with 1. No store can begin
 * elsewhere; so empty entries, a byte each, are put in the place of those that are gone, and
 * forgotten in the same way.
 */
import { createHash, type Hash } from "node:crypto";
import { RollcallError } from "../core/errors.ts";
import type { Log, LogPosition, LogRange, StoredSnapshot } from "./log.ts";
import type { Store } from "./store.ts";
import type { StreamAppend, Streams } from "./streams.ts";

/**
 * What a store holds, for reading: nobody writes to it meanwhile, or it shows one moment. It may
 * reject with OUT_OF_RANGE where its store forgets what is read; another moment may go.
 */
export interface StoreContent {
  readonly log: Pick<Log, "open" | "read" | "loadSnapshot">;
  readonly streams: Pick<Streams, "ranges" | "read">;
}

export interface CopyProgress {
  readonly what: "copied" | "compared";
  /** Entries of the log. */
  readonly events: number;
  readonly of: number;
}

export type OnCopyProgress = (progress: CopyProgress) => void;

/** An append of so much is written and acknowledged as one. */
const APPEND_LENGTH = 1 << 20;
/** Streams that one append begins: each is a row or two. */
const APPEND_STREAMS = 500;

/** Into an empty store; gives the range of the log. */
export async function copyStore(
  from: StoreContent,
  to: Store,
  onProgress: OnCopyProgress = () => undefined,
): Promise<LogRange> {
  const range = await from.log.open();
  const target = await to.log.open();
  if (target.head > 0) throw taken(to, `${target.head} events are in it`);
  for await (const { stream } of to.streams.ranges("")) throw taken(to, `it has stream ${stream}`);
  const read = await new Copy({ to, target, range, onProgress }).all(from);
  const written = await digestOf(to, onProgress);
  if (read === written) return range;
  const message = `${to.description} does not hold what was written into it: look at its disk`;
  throw new RollcallError("STORAGE_CORRUPT", message);
}

function taken({ description }: Store, why: string): RollcallError {
  const message = `${description} is not empty (${why}): name another place, or empty this one`;
  return new RollcallError("ALREADY_EXISTS", message);
}

/** The same for all stores that hold the same. */
export async function digestOf(from: StoreContent, onProgress?: OnCopyProgress): Promise<string> {
  const range = await from.log.open();
  const digest = new Digest(range);
  for await (const { first, entries } of from.log.read(range.oldest - 1)) {
    digest.add(entries);
    onProgress?.({ what: "compared", events: first + entries.length - 1, of: range.head });
  }
  for (const snapshot of await snapshotsOf(from, range)) {
    digest.begin("snapshot", snapshot.sequence);
    for await (const chunk of snapshot.chunks) digest.add([chunk]);
  }
  for await (const { stream, oldest, head } of from.streams.ranges("")) {
    digest.begin("stream", stream, oldest, head);
    for await (const { entries } of from.streams.read(stream, oldest - 1)) digest.add(entries);
  }
  return digest.end();
}

/** The oldest first. */
async function snapshotsOf(
  { log }: StoreContent,
  { head, oldest }: LogRange,
): Promise<StoredSnapshot[]> {
  const found: StoredSnapshot[] = [];
  for (let at = head; at >= oldest - 1;) {
    const snapshot = await log.loadSnapshot(at);
    if (!snapshot) break;
    found.unshift(snapshot);
    at = snapshot.sequence - 1;
  }
  return found;
}

interface CopyOptions {
  readonly to: Store;
  /** Where the empty log stands. */
  readonly target: LogPosition;
  readonly range: LogRange;
  readonly onProgress: OnCopyProgress;
}

class Copy {
  readonly #options: CopyOptions;
  readonly #digest: Digest;
  #at: LogPosition;
  #appends = 0;
  #waiting: StreamAppend[] = [];
  #length = 0;

  constructor(options: CopyOptions) {
    this.#options = options;
    this.#digest = new Digest(options.range);
    this.#at = options.target;
  }

  /** Gives the digest of what was read. */
  async all(from: StoreContent): Promise<string> {
    await this.#entries(from);
    await this.#snapshots(from);
    await this.#streams(from);
    return this.#digest.end();
  }

  async #entries({ log }: StoreContent): Promise<void> {
    const { range, onProgress } = this.#options;
    const { oldest, head, lastId } = range;
    if (oldest > head) return this.#pad(head, lastId);
    for await (const { entries, id, previous } of log.read(oldest - 1)) {
      if (this.#at.head < oldest - 1) await this.#pad(oldest - 1, previous);
      this.#digest.add(entries);
      const parts = [...partsOf(entries)];
      for (const [index, part] of parts.entries()) {
        await this.#append(part, index === parts.length - 1 ? id : this.#drawnId());
      }
      onProgress({ what: "copied", events: this.#at.head, of: head });
    }
  }

  /** Empty entries up to a sequence, of which the last is by this append. */
  async #pad(through: number, id: string): Promise<void> {
    while (this.#at.head < through) {
      const rest = through - this.#at.head;
      const count = Math.min(rest, APPEND_LENGTH);
      await this.#append(padding(count), count === rest ? id : this.#drawnId());
    }
  }

  async #append(entries: readonly string[], id: string): Promise<void> {
    const options = { id: id === "" ? this.#drawnId() : id };
    this.#at = await this.#options.to.log.append({ entries }, this.#at, options);
  }

  /** Of appends that were one, or older than ids. */
  #drawnId(): string {
    this.#appends += 1;
    return `copy.${this.#options.range.logId}.${this.#appends.toString(36)}`;
  }

  async #snapshots(from: StoreContent): Promise<void> {
    const { to, range } = this.#options;
    for (const { sequence, chunks } of await snapshotsOf(from, range)) {
      this.#digest.begin("snapshot", sequence);
      await to.log.saveSnapshot({ sequence, chunks: this.#read(chunks) });
    }
    if (range.oldest > 1) await to.log.truncate(range.oldest - 1);
  }

  async *#read(chunks: StoredSnapshot["chunks"]): AsyncGenerator<string> {
    for await (const chunk of chunks) {
      this.#digest.add([chunk]);
      yield chunk;
    }
  }

  async #streams({ streams }: StoreContent): Promise<void> {
    for await (const { stream, oldest, head } of streams.ranges("")) {
      this.#digest.begin("stream", stream, oldest, head);
      for (let at = 0; at < oldest - 1; at += APPEND_LENGTH) {
        await this.#say(stream, padding(Math.min(oldest - 1 - at, APPEND_LENGTH)));
      }
      let read = oldest - 1;
      for await (const { entries } of streams.read(stream, oldest - 1)) {
        read += entries.length;
        this.#digest.add(entries);
        for (const part of partsOf(entries)) await this.#say(stream, part);
      }
      if (read < head) {
        throw new RollcallError("OUT_OF_RANGE", `stream ${stream} was removed while it was read`);
      }
      if (oldest === 1) continue;
      await this.#flush();
      await this.#options.to.streams.trim(stream, oldest - 1);
    }
    await this.#flush();
  }

  /** Written with others: a store may hold tens of thousands of small streams. */
  async #say(stream: string, entries: readonly string[]): Promise<void> {
    if (this.#waiting.at(-1)?.stream === stream) await this.#flush();
    this.#waiting.push({ stream, entries });
    this.#length += entries.reduce((sum, { length }) => sum + length + 1, 0);
    if (this.#waiting.length >= APPEND_STREAMS || this.#length >= APPEND_LENGTH) {
      await this.#flush();
    }
  }

  async #flush(): Promise<void> {
    if (this.#waiting.length > 0) await this.#options.to.streams.appendAll(this.#waiting);
    this.#waiting = [];
    this.#length = 0;
  }
}

/** Entries in the place of those that are gone. */
export function padding(count: number): readonly string[] {
  return Array.from({ length: count }, () => "");
}

/** No part is larger than a store takes at once, unless a single entry is. */
function* partsOf(entries: readonly string[]): Generator<readonly string[]> {
  let from = 0;
  let length = 0;
  for (const [index, entry] of entries.entries()) {
    if (length > 0 && length + entry.length > APPEND_LENGTH) {
      yield entries.slice(from, index);
      from = index;
      length = 0;
    }
    length += entry.length + 1;
  }
  if (from < entries.length) yield entries.slice(from);
}

/** Over the entries one by one, in whatever pages they come. */
class Digest {
  readonly #hash: Hash = createHash("sha256");

  constructor({ oldest, head }: LogRange) {
    this.begin("log", oldest, head);
  }

  begin(...words: readonly (string | number)[]): void {
    this.#hash.update(`\n${JSON.stringify(words)}\n`);
  }

  add(entries: readonly string[]): void {
    if (entries.length > 0) this.#hash.update(`${entries.join("\n")}\n`);
  }

  end(): string {
    return this.#hash.digest("hex");
  }
}
