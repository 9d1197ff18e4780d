/**
 * Deleting what was forgotten, piece by piece: entries of the log that were truncated, blocks of
 * streams that were trimmed or removed, snapshots that were replaced or never finished. The tables
 * themselves say what that is, so it goes on after a crash, at any member.
 */
import type { Connection } from "./driver.ts";
import { POSTGRES } from "./limits.ts";

/** Whether something may be left. */
export async function sweepOnce(connection: Connection, schema: string): Promise<boolean> {
  const { deleteRows, deleteChunks } = POSTGRES;
  const [swept] = await connection.query<{ rows: number; chunks: number }>(sweep(schema), [
    deleteRows,
    deleteChunks,
  ]);
  if (!swept || swept.rows >= deleteRows || swept.chunks >= deleteChunks) return true;
  await connection.query(settle(schema));
  return false;
}

/** A snapshot that was begun a day ago has nobody who finishes it. */
const FORGOTTEN = "(state = 'dropped' OR state = 'begun' AND begun_at < now() - interval '1 day')";

function sweep(schema: string): string {
  return `
    WITH entries AS (
      DELETE FROM ${schema}.log WHERE last IN (
        SELECT last FROM ${schema}.log
        WHERE last < (SELECT oldest FROM ${schema}.head) ORDER BY last LIMIT $1)
      RETURNING 1
    ), blocks AS (
      DELETE FROM ${schema}.journal AS it USING (
        SELECT j.stream, j.last FROM ${schema}.garbage AS g
        JOIN ${schema}.journal AS j ON j.stream = g.stream AND j.last <= g.through LIMIT $1
      ) AS old WHERE it.stream = old.stream AND it.last = old.last
      RETURNING 1
    ), chunks AS (
      DELETE FROM ${schema}.chunk AS it USING (
        SELECT c.snapshot, c.n FROM ${schema}.snapshot AS s
        JOIN ${schema}.chunk AS c ON c.snapshot = s.id WHERE ${FORGOTTEN} LIMIT $2
      ) AS old WHERE it.snapshot = old.snapshot AND it.n = old.n
      RETURNING 1
    )
    SELECT greatest((SELECT count(*) FROM entries), (SELECT count(*) FROM blocks)) AS rows,
      (SELECT count(*) FROM chunks) AS chunks`;
}

/** Forgets what there is nothing left to delete of. */
function settle(schema: string): string {
  return `
    DELETE FROM ${schema}.garbage AS g WHERE NOT EXISTS (
      SELECT FROM ${schema}.journal AS j WHERE j.stream = g.stream AND j.last <= g.through);
    DELETE FROM ${schema}.snapshot AS s WHERE ${FORGOTTEN}
      AND NOT EXISTS (SELECT FROM ${schema}.chunk AS c WHERE c.snapshot = s.id)`;
}
