/** The streams of the SQLite store: writes join the group commit, reads come page by page. */
import { checkAppends, checkEntries, checkReach, checkStream } from "../entries.ts";
import type { NamedRange, StreamAppend, StreamBatch, StreamRange, Streams } from "../streams.ts";
import type { SqliteSession } from "./session.ts";

export class SqliteStreams implements Streams {
  readonly #session: SqliteSession;

  constructor(session: SqliteSession) {
    this.#session = session;
  }

  async append(stream: string, entries: readonly string[], expectedHead?: number): Promise<number> {
    checkStream(stream);
    checkEntries(entries);
    const append = { stream, entries, ...(expectedHead !== undefined && { expectedHead }) };
    const [head] = await this.#session.commits.appendToStreams([append]);
    return head ?? 0;
  }

  async appendAll(appends: readonly StreamAppend[]): Promise<readonly number[]> {
    checkAppends(appends);
    return this.#session.commits.appendToStreams(appends);
  }

  async *read(stream: string, after: number): AsyncGenerator<StreamBatch> {
    const { oldest, head } = await this.range(stream);
    const what = `stream ${stream}`;
    checkReach(what, after, oldest);
    yield* this.#session.pages(what, { after, through: head }, (span) =>
      this.#session.call("readStream", { stream, span }),
    );
  }

  range(stream: string): Promise<StreamRange> {
    return this.#session.call("rangeOfStream", stream);
  }

  async *ranges(prefix: string): AsyncGenerator<NamedRange> {
    let after = "";
    for (;;) {
      const ranges = await this.#session.call("listStreams", { prefix, after });
      yield* ranges;
      const last = ranges.at(-1);
      if (!last) return;
      after = last.stream;
    }
  }

  async trim(stream: string, through: number): Promise<void> {
    await this.#session.commits.trim(stream, through);
    await this.#session.sweep();
  }

  async remove(stream: string): Promise<void> {
    await this.#session.commits.remove(stream);
    await this.#session.sweep();
  }
}
