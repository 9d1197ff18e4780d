/**
 * A log that is filled with what another store held (../copy.ts), all or nothing.
 *
 *   no log, or an empty one ──begin──▶ filling ──commit──▶ a log
 *                                       │  ▲
 *                           abandon ────┘  └── begin, after one that was killed
 *
 * While it is filled no member opens it. A second one that begins draws another id, which fences
 * the appends of the first.
 */
import { randomUUID } from "node:crypto";
import { RollcallError } from "../../core/errors.ts";
import { FILLING } from "../filling.ts";
import type { LogRange } from "../log.ts";
import type { Connection } from "./driver.ts";
import { otherLog } from "./failure.ts";
import { lookAtSchema, openSchema, quoted, readHead } from "./schema.ts";
import type { SchemaOptions } from "./schema.ts";
import { SCHEMA_VERSION } from "./tables.ts";

const TABLES = ["log", "stream", "journal", "garbage", "snapshot", "chunk"];

/** The first time it begins; later it tells how far it has come. */
export async function openFilling(
  connection: Connection,
  options: SchemaOptions,
  logId: string,
): Promise<LogRange> {
  const own = { ...options, isFilling: true };
  if (options.logId === undefined) await begin(connection, own, logId);
  return readHead(connection, own);
}

async function begin(connection: Connection, options: SchemaOptions, logId: string): Promise<void> {
  const schema = quoted(options.schema);
  await openSchema(connection, options);
  const [taken] = await connection.query(
    `UPDATE ${schema}.head SET schema_version = $1, written_by = $2, log_id = $3
     WHERE schema_version = $1 OR (schema_version <= $4 AND mark = 0) RETURNING one`,
    [FILLING, options.writtenBy, logId, SCHEMA_VERSION],
  );
  if (taken) return empty(connection, schema);
  const { head } = await lookAtSchema(connection, { ...options, isFilling: false });
  throw new RollcallError(
    "ALREADY_EXISTS",
    `Postgres at ${options.place} is not empty, it has ${head} events: name another schema in ` +
      "the URL (?schema=NAME), or drop this one",
  );
}

export async function endFilling(
  connection: Connection,
  { schema, place }: SchemaOptions,
  logId: string,
): Promise<void> {
  const [ended] = await connection.query(
    `UPDATE ${quoted(schema)}.head SET schema_version = $1
     WHERE schema_version IN ($1, $2) AND log_id = $3 RETURNING one`,
    [SCHEMA_VERSION, FILLING, logId],
  );
  if (!ended) throw otherLog(place);
}

/** Nothing, where another one has begun since. */
export async function abandonFilling(
  connection: Connection,
  options: SchemaOptions,
  logId: string,
): Promise<void> {
  const schema = quoted(options.schema);
  const own = [FILLING, logId];
  const [found] = await connection.query(
    `SELECT one FROM ${schema}.head WHERE schema_version = $1 AND log_id = $2`,
    own,
  );
  if (!found) return;
  await empty(connection, schema);
  await connection.query(
    `UPDATE ${schema}.head SET schema_version = $3, log_id = $4
     WHERE schema_version = $1 AND log_id = $2`,
    [...own, SCHEMA_VERSION, randomUUID()],
  );
}

async function empty(connection: Connection, schema: string): Promise<void> {
  await connection.query(`TRUNCATE ${TABLES.map((name) => `${schema}.${name}`).join(", ")}`);
  await connection.query(
    `UPDATE ${schema}.head SET head = 0, mark = 0, oldest = 1, last_id = '', base_id = '',
       append_id = '', previous_id = ''`,
  );
}
