/** The journal of the SQLite store: appends join the group commit, reads come page by page. */
import { checkAppends, checkEntries, checkReach, checkStream } from "../entries.ts";
import type { Journal, JournalAppend, JournalEntry, JournalRange } from "../journal.ts";
import type { SqliteSession } from "./session.ts";

export class SqliteJournal implements Journal {
  readonly #session: SqliteSession;

  constructor(session: SqliteSession) {
    this.#session = session;
  }

  async append(stream: string, entries: readonly string[]): Promise<number> {
    checkStream(stream);
    checkEntries(entries);
    if (entries.length > 0) return this.#session.commits.appendToStream(stream, entries);
    return (await this.range(stream)).head;
  }

  async appendAll(appends: readonly JournalAppend[]): Promise<readonly number[]> {
    checkAppends(appends);
    return appends.length > 0 ? this.#session.commits.appendToStreams(appends) : [];
  }

  async *read(stream: string, after: number): AsyncGenerator<JournalEntry> {
    const { oldest, head } = await this.range(stream);
    const what = `stream ${stream}`;
    checkReach(what, after, oldest);
    const pages = this.#session.pages(what, { after, through: head }, (span) =>
      this.#session.call("readStream", { stream, span }),
    );
    for await (const { first, entries } of pages) {
      let position = first;
      for (const entry of entries) yield { position: position++, entry };
    }
  }

  range(stream: string): Promise<JournalRange> {
    return this.#session.call("rangeOfStream", stream);
  }

  async trim(stream: string, through: number): Promise<void> {
    await this.#session.commits.settled();
    await this.#session.call("trimStream", { stream, through });
    await this.#session.sweep();
  }

  async remove(stream: string): Promise<void> {
    await this.#session.commits.settled();
    await this.#session.call("removeStream", stream);
    await this.#session.sweep();
  }

  async *streams(prefix: string): AsyncGenerator<string> {
    let after = "";
    for (;;) {
      const names = await this.#session.call("listStreams", { prefix, after });
      yield* names;
      const last = names.at(-1);
      if (last === undefined) return;
      after = last;
    }
  }
}
