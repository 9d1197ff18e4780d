/**
 * A log that is filled with what another store held (../copy.ts), all or nothing.
 *
 *   no log, or an empty one ──begin──▶ filling ──commit──▶ a log
 *                                       │  ▲
 *                           abandon ────┘  └── begin, after one that was killed
 *
 * While it is filled no member opens it. A second one that begins makes the streams anew, which
 * fences the appends of the first: they follow no message there.
 */
import { RollcallError } from "../../core/errors.ts";
import { FILLING } from "../filling.ts";
import type { Connection } from "./driver.ts";
import { NO_STREAM, otherLog, Refused } from "./failure.ts";
import { checkOurs, infoOf, openLayout, SCHEMA_VERSION } from "./layout.ts";
import type { LayoutOptions, OpenedLayout, StreamInfo } from "./layout.ts";
import type { Names } from "./names.ts";

/** The first time it begins; later it tells how far it has come. */
export async function openFilling(
  connection: Connection,
  options: LayoutOptions,
  filledId: string,
): Promise<OpenedLayout> {
  const own = { ...options, filledId };
  if (options.logId === undefined) await clear(connection, own);
  return openLayout(connection, own);
}

async function clear(connection: Connection, options: LayoutOptions): Promise<void> {
  const { names, place } = options;
  const info = await infoOf(connection, names.stream);
  if (info) checkOurs(info, options);
  if (!info || isFilling(info) || isEmpty(info)) return remove(connection, names);
  throw new RollcallError(
    "ALREADY_EXISTS",
    `NATS at ${place} is not empty, it has ${info.state.messages} messages: give the log another ` +
      `name in the URL, or delete its streams (${names.stream}, ${names.snapshots})`,
  );
}

function isFilling({ config }: StreamInfo): boolean {
  return Number(config.metadata?.["rollcall-schema"]) === FILLING;
}

/** Nothing was ever written but the first sign. */
function isEmpty({ config, state }: StreamInfo): boolean {
  return state.last_seq <= (config.first_seq ?? 1);
}

async function remove(connection: Connection, names: Names): Promise<void> {
  for (const stream of [names.stream, names.snapshots]) {
    try {
      await connection.call(`STREAM.DELETE.${stream}`);
    } catch (error) {
      if (!(error instanceof Refused) || error.code !== NO_STREAM) throw error;
    }
  }
}

export async function endFilling(
  connection: Connection,
  { names, place }: LayoutOptions,
  filledId: string,
): Promise<void> {
  const info = await infoOf(connection, names.stream);
  const { metadata } = info?.config ?? {};
  if (!info || metadata?.["rollcall-log"] !== filledId) throw otherLog(place);
  const ended = { ...metadata, "rollcall-schema": String(SCHEMA_VERSION) };
  await connection.call(`STREAM.UPDATE.${names.stream}`, { ...info.config, metadata: ended });
}

/** Nothing, where another one has begun since. */
export async function abandonFilling(
  connection: Connection,
  { names }: LayoutOptions,
  filledId: string,
): Promise<void> {
  const info = await infoOf(connection, names.stream);
  const isOwn = info?.config.metadata?.["rollcall-log"] === filledId;
  if (info && isOwn && isFilling(info)) await remove(connection, names);
}
