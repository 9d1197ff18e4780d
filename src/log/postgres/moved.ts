/** Marks a log whose copy is in another store. Its id goes: members that append are refused. */
import { MOVED, wroteSince, type Departure } from "../moved.ts";
import type { Connection } from "./driver.ts";
import { quoted, type SchemaOptions } from "./schema.ts";

export async function markMoved(
  connection: Connection,
  { schema, place }: SchemaOptions,
  { range, to }: Departure,
): Promise<void> {
  const { head, mark, logId } = range;
  const [marked] = await connection.query(
    `UPDATE ${quoted(schema)}.head
     SET schema_version = $1, written_by = $2, log_id = 'moved ' || $3
     WHERE log_id = $3 AND head = $4 AND mark = $5 RETURNING one`,
    [MOVED, to, logId, head, mark],
  );
  if (!marked) throw wroteSince(`Postgres at ${place}`);
}
