/** The tools that the cases of the conformance suite are written with. */
import assert from "node:assert/strict";
// tidy-allow sleep: a turn of the loop, not a time
import { setImmediate } from "node:timers/promises";
import { codeOf, type ErrorCode } from "../../../src/core/errors.ts";
import type { Streams } from "../../../src/log/streams.ts";
import type { Log, LogBatch } from "../../../src/log/log.ts";
import type { Store } from "../../../src/log/store.ts";

/** Its title, a sentence, and what to run: it rejects when the sentence does not hold. */
export type ConformanceCase = readonly [title: string, run: () => Promise<void>];

export interface Medium {
  /** A store on what this medium holds, not yet open. */
  readonly connect: () => Store;
  readonly remove: () => Promise<void>;
}

export interface Given {
  /** Open. */
  readonly store: Store;
  readonly log: Log;
  readonly streams: Streams;
  /** A further store on the same medium, not yet open; it is closed in the end. */
  readonly connect: () => Store;
}

export type Check = (given: Given) => Promise<void>;

export async function inCase(medium: () => Promise<Medium>, check: Check): Promise<void> {
  const place = await medium();
  const stores: Store[] = [];
  const connect = () => {
    const store = place.connect();
    stores.push(store);
    return store;
  };
  try {
    const store = connect();
    await store.log.open();
    await check({ store, log: store.log, streams: store.streams, connect });
  } finally {
    for (const store of stores) await store.close();
    await place.remove();
  }
}

export async function collect<T>(items: AsyncIterable<T> | Iterable<T>): Promise<T[]> {
  const collected: T[] = [];
  for await (const item of items) collected.push(item);
  return collected;
}

/** From where to where a log can be read. */
export async function reachOf(log: Log): Promise<{ head: number; oldest: number }> {
  const { head, oldest } = await log.open();
  return { head, oldest };
}

/** All entries after `after`, which must stand without a gap. */
export async function entriesAfter(log: Log, after: number): Promise<string[]> {
  const entries: string[] = [];
  for await (const batch of log.read(after)) {
    assert.equal(batch.first, after + entries.length + 1, "the batches of a read have no gap");
    for (const entry of batch.entries) entries.push(entry);
  }
  return entries;
}

/** All entries of a stream after `after`, which must stand without a gap. */
export async function streamAfter(
  streams: Streams,
  stream: string,
  after: number,
): Promise<string[]> {
  const entries: string[] = [];
  for await (const batch of streams.read(stream, after)) {
    assert.equal(batch.first, after + entries.length + 1, "the pages of a stream have no gap");
    for (const entry of batch.entries) entries.push(entry);
  }
  return entries;
}

export async function namesOf(streams: Streams, prefix: string): Promise<string[]> {
  return (await collect(streams.ranges(prefix))).map(({ stream }) => stream);
}

export async function rejects(code: ErrorCode, attempt: Promise<unknown>): Promise<void> {
  await assert.rejects(attempt, (error) => {
    assert.equal(codeOf(error), code, String(error));
    return true;
  });
}

/** `count` entries that tell where they stand. */
export function numbered(first: number, count: number): string[] {
  return Array.from({ length: count }, (_, index) => `entry ${first + index}`);
}

/** One who follows, asked for one batch at a time. */
export class Follower {
  readonly #abort = new AbortController();
  readonly #batches: AsyncIterator<LogBatch>;
  #position: number;

  #id: string;
  /** Of the last batch. */
  mark = 0;

  constructor(log: Log, after: number, afterId?: string) {
    this.#position = after;
    this.#id = afterId ?? "";
    this.#batches = log.follow(after, afterId, this.#abort.signal)[Symbol.asyncIterator]();
  }

  /** The next batch; nothing when the following ended. */
  async next(): Promise<readonly string[] | undefined> {
    const result = await this.#batches.next();
    if (result.done) return undefined;
    const { first, entries, mark, id, previous } = result.value;
    assert.equal(first, this.#position + 1, "a follower sees everything, in order, once");
    if (this.#id !== "") assert.equal(previous, this.#id, "batches are chained");
    this.#position += entries.length;
    this.#id = id;
    this.mark = mark;
    return entries;
  }

  /** Entries up to the sequence, whatever their batches. */
  async through(sequence: number): Promise<string[]> {
    const entries: string[] = [];
    while (this.#position < sequence) {
      const batch = await this.next();
      assert.ok(batch, `the following ended before ${sequence}`);
      entries.push(...batch);
    }
    return entries;
  }

  stop(): void {
    this.#abort.abort();
  }
}

/** Lets the loop turn, which a loop over a store that answers at once would not. */
export function othersTurn(): Promise<void> {
  return setImmediate();
}

/** A promise and the way to keep it. */
export function gate(): { readonly opened: Promise<void>; readonly open: () => void } {
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}
