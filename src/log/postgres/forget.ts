/** Trimming and removing streams: marked here, deleted by the sweep. */
import type { Forgotten } from "../writer.ts";
import type { PostgresSession } from "./session.ts";

/** May be done twice, so it is tried until it is. */
export async function forget(
  session: PostgresSession,
  streams: readonly Forgotten[],
): Promise<void> {
  const names = streams.map(({ stream }) => stream);
  const through = streams.map((each) => each.through ?? null);
  const sql = forgetIn(session.schema);
  await session.run((connection) => connection.query(sql, [names, through]));
  session.sweep();
}

/** Marks what is gone, for the sweep to delete; all that is left of a removed stream. */
function forgetIn(schema: string): string {
  return `
    WITH asked AS (SELECT * FROM unnest($1::text[], $2::bigint[]) AS each(name, through)),
    trimmed AS (
      UPDATE ${schema}.stream AS it SET trimmed = least(asked.through, it.head) FROM asked
      WHERE it.name = asked.name AND it.trimmed < least(asked.through, it.head)
        AND asked.through IS NOT NULL
      RETURNING it.id, it.trimmed AS through
    ), removed AS (
      DELETE FROM ${schema}.stream AS it USING asked
      WHERE it.name = asked.name AND asked.through IS NULL
      RETURNING it.id, it.head AS through
    )
    INSERT INTO ${schema}.garbage AS known (stream, through)
    SELECT * FROM trimmed UNION ALL SELECT * FROM removed
    ON CONFLICT (stream) DO UPDATE SET through = greatest(known.through, excluded.through)`;
}
