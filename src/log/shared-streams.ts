/** The writing half of the streams of a store on servers; the contract is in streams.ts. */
import { checkBatch, checkEntries, checkSize, checkStream, fenced } from "./entries.ts";
import type { SharedSession } from "./shared-session.ts";
import type { NamedRange, StreamAppend, StreamBatch, StreamRange, Streams } from "./streams.ts";
import type { Writer } from "./writer.ts";

export abstract class SharedStreams implements Streams {
  readonly #session: Pick<SharedSession, "checkOpen" | "appendBytes">;
  readonly #writer: Writer;

  constructor(session: Pick<SharedSession, "checkOpen" | "appendBytes">, writer: Writer) {
    this.#session = session;
    this.#writer = writer;
  }

  abstract read(stream: string, after: number): AsyncIterable<StreamBatch>;
  abstract range(stream: string): Promise<StreamRange>;
  abstract ranges(prefix: string): AsyncIterable<NamedRange>;

  async append(stream: string, entries: readonly string[], expectedHead?: number): Promise<number> {
    this.#session.checkOpen();
    checkStream(stream);
    checkEntries(entries);
    if (entries.length === 0) return this.#look(stream, expectedHead);
    const append = { stream, entries, ...(expectedHead !== undefined && { expectedHead }) };
    checkSize({ entries: [], streams: [append] }, this.#session.appendBytes);
    const [head = 0] = await this.#writer.appendToStreams([append]);
    return head;
  }

  /** An append of nothing, which comes after those that were called before it. */
  async #look(stream: string, expectedHead: number | undefined): Promise<number> {
    await this.#writer.settled();
    const { head } = await this.range(stream);
    if (expectedHead === undefined || expectedHead === head) return head;
    throw fenced(`stream ${stream}`, head, expectedHead);
  }

  async appendAll(appends: readonly StreamAppend[]): Promise<readonly number[]> {
    this.#session.checkOpen();
    const batch = { entries: [], streams: appends };
    checkBatch(batch);
    checkSize(batch, this.#session.appendBytes);
    return appends.length === 0 ? [] : this.#writer.appendToStreams(appends);
  }

  async trim(stream: string, through: number): Promise<void> {
    this.#session.checkOpen();
    await this.#writer.forget([stream], through);
  }

  async remove(...streams: readonly string[]): Promise<void> {
    this.#session.checkOpen();
    await this.#writer.forget(streams);
  }
}
