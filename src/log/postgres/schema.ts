/**
 * The schema in the database: made when there is none, refused when it is not ours or too new, and
 * never made a second time by a store that has seen it: a log that is suddenly gone is a loss, not
 * a beginning.
 */
import { randomUUID } from "node:crypto";
import { RollcallError } from "../../core/errors.ts";
import { FILLING } from "../filling.ts";
import type { LogRange } from "../log.ts";
import { MOVED, movedAway } from "../moved.ts";
import type { Connection } from "./driver.ts";
import { damaged, sqlState } from "./failure.ts";
import { SCHEMA_VERSION, tablesIn } from "./tables.ts";

export interface SchemaOptions {
  readonly schema: string;
  /** Host, database and schema, for messages. */
  readonly place: string;
  readonly writtenBy: string;
  /** Of the log that this store has had open. */
  readonly logId: string | undefined;
  /** Whether it is this store that fills it. */
  readonly isFilling?: boolean;
}

/** Older ones lack what the statements need. */
const OLDEST_SERVER = 130_000;

interface Found {
  readonly server: number;
  readonly encoding: string;
  readonly exists: boolean;
  /** Of other tables in it. */
  readonly tables: string;
  readonly ours: boolean;
}

const LOOK = `
  SELECT current_setting('server_version_num')::integer AS server,
    current_setting('server_encoding') AS encoding,
    EXISTS (SELECT FROM pg_namespace WHERE nspname = $1) AS exists,
    (SELECT coalesce(string_agg(relname, ', '), '') FROM (
      SELECT relname FROM pg_class JOIN pg_namespace n ON n.oid = relnamespace
      WHERE nspname = $1 AND relkind IN ('r', 'p', 'v', 'm', 'f') ORDER BY relname LIMIT 9
    ) AS other) AS tables,
    EXISTS (
      SELECT FROM pg_attribute JOIN pg_class c ON c.oid = attrelid
      JOIN pg_namespace n ON n.oid = relnamespace
      WHERE nspname = $1 AND relname = 'head' AND attname = 'log_id'
    ) AS ours`;

interface HeadRow {
  readonly schema_version: number;
  readonly written_by: string;
  readonly log_id: string;
  readonly head: number;
  readonly mark: number;
  readonly oldest: number;
  readonly last_id: string;
}

/** Opens the log in a schema, which is made when this store has seen none yet. */
export async function openSchema(
  connection: Connection,
  options: SchemaOptions,
): Promise<LogRange> {
  const { place, logId } = options;
  if (logId !== undefined) return reopen(connection, options, logId);
  const found = await look(connection, options);
  if (!found.ours && found.tables !== "") {
    throw new RollcallError(
      "STORAGE_CORRUPT",
      `Postgres at ${place} holds tables of another program (${found.tables}): ` +
        "nothing was changed; name another schema in the URL (?schema=NAME)",
    );
  }
  if (!found.ours) await makeSchema(connection, options, found.exists);
  return readHead(connection, options);
}

async function reopen(
  connection: Connection,
  options: SchemaOptions,
  logId: string,
): Promise<LogRange> {
  try {
    return await readHead(connection, options);
  } catch (error) {
    if (!NO_TABLE.includes(sqlState(error) ?? "")) throw error;
    const what = `the log ${logId} that was open here is gone, its tables were dropped`;
    throw damaged(options.place, what);
  }
}

/** Neither the table nor its schema is there. */
const NO_TABLE = ["42P01", "3F000"];

async function look(connection: Connection, { schema, place }: SchemaOptions): Promise<Found> {
  const [found] = await connection.query<Found>(LOOK, [schema]);
  if (!found) throw damaged(place, "it does not tell its version");
  if (found.server < OLDEST_SERVER) {
    const message = `Postgres at ${place} is version ${found.server / 10_000}: use 13 or newer`;
    throw new RollcallError("UNIMPLEMENTED", message);
  }
  if (found.encoding === "UTF8") return found;
  const message = `the database of ${place} is in ${found.encoding}`;
  throw new RollcallError("UNIMPLEMENTED", `${message}: create one with ENCODING 'UTF8'`);
}

/** Members that start together make it once: the others wait for the first. */
async function makeSchema(
  connection: Connection,
  options: SchemaOptions,
  exists: boolean,
): Promise<void> {
  const schema = quoted(options.schema);
  await connection.query("BEGIN");
  try {
    await connection.query("SELECT pg_advisory_xact_lock(hashtext('rollcall ' || $1))", [schema]);
    if (!(await look(connection, options)).ours) {
      if (!exists) await connection.query(`CREATE SCHEMA IF NOT EXISTS ${schema}`);
      await connection.query(tablesIn(schema));
      await connection.query(
        `INSERT INTO ${schema}.head (schema_version, written_by, log_id) VALUES ($1, $2, $3)`,
        [SCHEMA_VERSION, options.writtenBy, randomUUID()],
      );
    }
    await connection.query("COMMIT");
  } catch (error) {
    await connection.query("ROLLBACK").catch(() => undefined);
    throw error;
  }
}

/** Of a log that is there already: nothing is made. */
export async function lookAtSchema(
  connection: Connection,
  options: SchemaOptions,
): Promise<LogRange> {
  const { ours } = await look(connection, options);
  if (ours) return readHead(connection, options);
  throw new RollcallError("NOT_FOUND", `Postgres at ${options.place} holds no log`);
}

export async function readHead(
  connection: Connection,
  { schema, place, writtenBy, isFilling = false }: SchemaOptions,
): Promise<LogRange> {
  const [row] = await connection.query<HeadRow>(
    `SELECT schema_version, written_by, log_id, head, mark, oldest, last_id
     FROM ${quoted(schema)}.head`,
  );
  if (!row) throw damaged(place, "the row that tells the head of the log was deleted");
  if (row.schema_version === FILLING && !isFilling) {
    throw new RollcallError(
      "WRONG_STATE",
      `Postgres at ${place} is being filled by a restore or a move that has not ended, of ` +
        `${row.written_by}: wait for it, or run it again`,
    );
  }
  if (row.schema_version === MOVED) throw movedAway(`Postgres at ${place}`, row.written_by);
  if (row.schema_version > SCHEMA_VERSION && !isFilling) {
    throw new RollcallError(
      "STORAGE_TOO_NEW",
      `Postgres at ${place} was written by ${row.written_by} with schema ${row.schema_version}; ` +
        `${writtenBy} reads up to schema ${SCHEMA_VERSION}: run that version or newer`,
    );
  }
  const { head, mark, oldest, log_id: logId, last_id: lastId } = row;
  return { head, mark, oldest, logId, lastId };
}

/** Names are checked (url.ts), so nothing in them needs escaping. */
export function quoted(schema: string): string {
  return `"${schema}"`;
}
