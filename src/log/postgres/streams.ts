/** The streams of the Postgres store; the contract is in ../streams.ts. */
import { RollcallError } from "../../core/errors.ts";
import { checkReach } from "../entries.ts";
import { SharedStreams } from "../shared-streams.ts";
import type { NamedRange, StreamBatch, StreamRange } from "../streams.ts";
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

export class PostgresStreams extends SharedStreams {
  readonly #session: PostgresSession;

  constructor(session: PostgresSession, writer: Writer) {
    super(session, writer);
    this.#session = session;
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
}

function rangeOf({ head, trimmed }: StreamRow): StreamRange {
  return { oldest: trimmed + 1, head };
}
