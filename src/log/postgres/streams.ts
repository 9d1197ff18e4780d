/** The streams of the Postgres store; the contract is in ../streams.ts. */
import { RollcallError } from "../../core/errors.ts";
import { LOG } from "../../core/limits.ts";
import {
  checkBatch,
  checkEntries,
  checkReach,
  checkSize,
  checkStream,
  fenced,
} from "../entries.ts";
import type { NamedRange, StreamAppend, StreamBatch, StreamRange, Streams } from "../streams.ts";
import type { Writer } from "../writer.ts";
import { damaged } from "./failure.ts";
import { POSTGRES } from "./limits.ts";
import { entriesOf, readStreamPage, type Span } from "./pages.ts";
import type { PostgresSession } from "./session.ts";

interface StreamRow {
  readonly name: string;
  readonly head: number;
  readonly trimmed: number;
}

export class PostgresStreams implements Streams {
  readonly #session: PostgresSession;
  readonly #writer: Writer;

  constructor(session: PostgresSession, writer: Writer) {
    this.#session = session;
    this.#writer = writer;
  }

  async append(stream: string, entries: readonly string[], expectedHead?: number): Promise<number> {
    this.#session.checkOpen();
    checkStream(stream);
    checkEntries(entries);
    if (entries.length === 0) return this.#look(stream, expectedHead);
    const append = { stream, entries, ...(expectedHead !== undefined && { expectedHead }) };
    checkSize({ entries: [], streams: [append] }, LOG.sharedAppendBytes);
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
    checkSize(batch, LOG.sharedAppendBytes);
    return appends.length === 0 ? [] : this.#writer.appendToStreams(appends);
  }

  async *read(stream: string, after: number): AsyncGenerator<StreamBatch> {
    this.#session.checkOpen();
    const what = `stream ${stream}`;
    const read = (span: Span) =>
      this.#session.run((each) => readStreamPage(each, this.#session, { ...span, stream }));
    let page = await read({ after });
    checkReach(what, after, (page?.trimmed ?? 0) + 1);
    const { id, head: through } = page ?? { id: "", head: 0 };
    for (let at = after; at < through;) {
      const [first] = page?.blocks ?? [];
      if (!page || page.id !== id || page.trimmed > at) {
        throw new RollcallError("OUT_OF_RANGE", `${what} was truncated after ${at}`);
      }
      if (!first || first.first > at + 1) {
        throw damaged(this.#session.place, `entry ${at + 1} of ${what} is missing`);
      }
      const entries = entriesOf(page.blocks, at, { place: this.#session.place, what });
      yield { first: at + 1, entries };
      at += entries.length;
      if (at < through) page = await read({ after: at, through });
    }
  }

  async range(stream: string): Promise<StreamRange> {
    this.#session.checkOpen();
    const sql = `SELECT name, head, trimmed FROM ${this.#session.schema}.stream WHERE name = $1`;
    const [row] = await this.#session.run((connection) =>
      connection.query<StreamRow>(sql, [stream]),
    );
    return row ? rangeOf(row) : { oldest: 1, head: 0 };
  }

  async *ranges(prefix: string): AsyncGenerator<NamedRange> {
    this.#session.checkOpen();
    const sql = `
      SELECT name, head, trimmed FROM ${this.#session.schema}.stream
      WHERE name LIKE $1 AND name > $2 ORDER BY name LIMIT ${POSTGRES.listRows}`;
    const pattern = `${prefix.replaceAll(/[\\%_]/g, "\\$&")}%`;
    for (let after = ""; ;) {
      const rows = await this.#session.run((connection) =>
        connection.query<StreamRow>(sql, [pattern, after]),
      );
      for (const row of rows) yield { stream: row.name, ...rangeOf(row) };
      const last = rows.at(-1);
      if (!last || rows.length < POSTGRES.listRows) return;
      after = last.name;
    }
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

function rangeOf({ head, trimmed }: StreamRow): StreamRange {
  return { oldest: trimmed + 1, head };
}
