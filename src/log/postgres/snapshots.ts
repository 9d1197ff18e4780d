/**
 * Snapshots: pieces of text, many to a row, written at a pace that leaves the appends beside them
 * nearly as fast as they were. One counts from the moment that it is whole.
 */
import { RollcallError } from "../../core/errors.ts";
import { checkReach } from "../entries.ts";
import { SNAPSHOT } from "../limits.ts";
import type { Snapshot, StoredSnapshot } from "../log.ts";
import { Pace } from "../pace.ts";
import { checksumOf } from "./append.ts";
import { damaged } from "./failure.ts";
import type { PostgresSession } from "./session.ts";

interface SnapshotRow {
  readonly id: number;
  readonly sequence: number;
  readonly append_id: string;
  readonly chunks: number;
}

interface ChunkTexts {
  readonly sizes: string;
  readonly checksum: string;
  readonly body: string;
}

export class SnapshotTable {
  readonly #session: PostgresSession;

  constructor(session: PostgresSession) {
    this.#session = session;
  }

  async save({ sequence, chunks }: Snapshot): Promise<void> {
    this.#session.checkOpen();
    const { schema } = this.#session;
    const [begun] = await this.#query<{ id: number }>(
      `INSERT INTO ${schema}.snapshot (sequence) VALUES ($1) RETURNING id`,
      [sequence],
    );
    const id = begun?.id ?? 0;
    try {
      await this.#finish(id, sequence, await this.#write(id, chunks));
    } catch (error) {
      const drop = `UPDATE ${schema}.snapshot SET state = 'dropped' WHERE id = $1`;
      await this.#query(drop, [id]).catch(() => undefined);
      throw error;
    } finally {
      // An earlier one at the same sequence, or this one if it failed.
      this.#session.sweep();
    }
  }

  /** Gives the number of rows. */
  async #write(id: number, chunks: Snapshot["chunks"]): Promise<number> {
    const pace = this.#session.isAlone ? undefined : new Pace(this.#session.closing);
    let n = 0;
    let gathered: string[] = [];
    let length = 0;
    const add = async () => {
      const text = gathered.join("");
      const sizes = gathered.map((piece) => piece.length);
      const body = Buffer.from(text);
      await this.#query(
        `INSERT INTO ${this.#session.schema}.chunk (snapshot, n, sizes, checksum, body)
         SELECT $1, $2, $3, $4, $5 FROM ${UNSYNCED} ON CONFLICT DO NOTHING`,
        [id, n, sizes, checksumOf(`${n} ${sizes.join(" ")}`, text), body],
      );
      n += 1;
      gathered = [];
      length = 0;
      await pace?.wrote(body.length);
    };
    for await (const chunk of chunks) {
      this.#session.checkOpen();
      gathered.push(chunk);
      length += chunk.length;
      if (length >= SNAPSHOT.chunkBytes) await add();
    }
    this.#session.checkOpen();
    if (gathered.length > 0) await add();
    return n;
  }

  async #finish(id: number, sequence: number, chunks: number): Promise<void> {
    const [answer] = await this.#query<{ refusal: string; bound: number }>(
      `SELECT refusal, bound FROM ${this.#session.schema}.finish_snapshot($1, $2)`,
      [id, chunks],
    );
    if (answer?.refusal === "above") {
      const message = `snapshot ${sequence} is above head ${answer.bound}`;
      throw new RollcallError("INVALID_ARGUMENT", message);
    }
    if (answer?.refusal === "below") checkReach("the log", sequence, answer.bound);
  }

  async load(atOrBefore: number): Promise<StoredSnapshot | undefined> {
    this.#session.checkOpen();
    const [row] = await this.#query<SnapshotRow>(
      `SELECT id, sequence, append_id, chunks FROM ${this.#session.schema}.snapshot
       WHERE state = 'whole' AND sequence <= $1 ORDER BY sequence DESC LIMIT 1`,
      [Math.min(atOrBefore, Number.MAX_SAFE_INTEGER)],
    );
    return row && { sequence: row.sequence, id: row.append_id, chunks: this.#read(row) };
  }

  async *#read({ id, sequence, chunks }: SnapshotRow): AsyncGenerator<string> {
    const sql = `
      SELECT array_to_string(sizes, ' ') AS sizes, checksum::text, body
      FROM ${this.#session.schema}.chunk WHERE snapshot = $1 AND n = $2`;
    for (let n = 0; n < chunks; n += 1) {
      const [row] = await this.#session.run((connection) =>
        connection.bodies<ChunkTexts>(sql, [id, n]),
      );
      if (!row) {
        const message = `the snapshot at ${sequence} was dropped while it was read`;
        throw new RollcallError("OUT_OF_RANGE", message);
      }
      if (checksumOf(`${n} ${row.sizes}`, row.body) !== Number(row.checksum)) {
        throw damaged(this.#session.place, `the snapshot at ${sequence} is not as written`);
      }
      yield* piecesOf(row);
    }
  }

  #query<Row>(sql: string, values: readonly (string | number | Buffer | number[])[]) {
    return this.#session.run((connection) => connection.query<Row>(sql, values));
  }
}

/**
 * A row is durable with the commit that makes the snapshot count: synced each by itself, they would
 * keep the disk, and the standbys, from the appends.
 */
const UNSYNCED = "(SELECT set_config('synchronous_commit', 'off', true)) AS unsynced";

/** Sizes count characters of the text, as JavaScript does. */
function* piecesOf({ sizes, body }: ChunkTexts): Generator<string> {
  let at = 0;
  for (const size of sizes.split(" ").map(Number)) {
    yield body.slice(at, at + size);
    at += size;
  }
}
