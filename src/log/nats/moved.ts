/**
 * Marks a log whose copy is in another store. Its stream takes no subject of the log any more, so
 * what members still append reaches nobody; then it must end as it did when it was copied.
 */
import { MOVED, wroteSince, type Departure } from "../moved.ts";
import type { Connection } from "./driver.ts";
import { damaged } from "./failure.ts";
import { infoOf, SCHEMA_VERSION, subjectsIn } from "./layout.ts";
import type { NatsSession } from "./session.ts";

export async function markMoved(
  connection: Connection,
  session: NatsSession,
  { range, to }: Departure,
): Promise<void> {
  const { names, place } = session;
  const info = await infoOf(connection, names.stream);
  if (!info) throw damaged(place, "its stream was deleted");
  const update = (subjects: readonly string[], about: Readonly<Record<string, string>>) => {
    const metadata = { ...info.config.metadata, ...about };
    return connection.call(`STREAM.UPDATE.${names.stream}`, { ...info.config, subjects, metadata });
  };
  await update([names.moved], { "rollcall-schema": String(MOVED), "rollcall-moved-to": to });
  const last = await session.lastOf(names.log);
  if (last?.sequence === range.mark) return;
  await update(subjectsIn(names), { "rollcall-schema": String(SCHEMA_VERSION) });
  throw wroteSince(`NATS at ${place}`);
}
