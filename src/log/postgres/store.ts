/**
 * The store of a cluster: a schema in a PostgreSQL database, for several members at once.
 *
 *   engine ─▶ PostgresLog ──────┐
 *   jobs ──▶ PostgresStreams ───┼─▶ Writer ─▶ one connection, one turn at a time ─▶ append(…)
 *                               └─▶ PostgresSession ─▶ a few connections: pages, snapshots, sweep
 *   followers ◀── Hints ◀── LISTEN, and a look every second
 *
 * An append is one call of an SQL function (tables.ts). The lock on the row of the head is the
 * fence between members, and log and streams are in one transaction. A commit is durable by the
 * server's own settings, which are checked at the start (durability.ts).
 */
import { randomUUID } from "node:crypto";
import type { Durability } from "../durability.ts";
import type { Filling } from "../filling.ts";
import type { Departure } from "../moved.ts";
import type { Store } from "../store.ts";
import { Writer } from "../writer.ts";
import { appendToLog, appendToStreams } from "./append.ts";
import { postgresError } from "./failure.ts";
import { abandonFilling, endFilling, openFilling } from "./filling.ts";
import { forget } from "./forget.ts";
import { PostgresLog } from "./log.ts";
import { markMoved } from "./moved.ts";
import { PostgresSession, type PostgresSessionOptions } from "./session.ts";
import { PostgresStreams } from "./streams.ts";
import { parsePostgresUrl } from "./url.ts";

export interface PostgresStoreOptions {
  /** `postgres://USER@HOST[:PORT][,…]/DATABASE?schema=NAME`, without a password. */
  readonly url: string;
  /** Asked for each connection, so that it may change; absent: PGPASSWORD. */
  readonly password?: () => Promise<string>;
  /** Whether a server that may lose what it acknowledged is refused, or used with a warning. */
  readonly durability?: Durability;
  /** Name and version of the program, for another one that cannot read what this one writes. */
  readonly writtenBy?: string;
  /** Of what an operator should know. */
  readonly onWarning?: (message: string) => void;
}

export function postgresStore(options: PostgresStoreOptions): Store {
  return storeOf(sessionOf(options));
}

/** What a log that is there holds at the moment that it is opened, for reading. */
export function postgresMoment(options: PostgresStoreOptions): Store {
  return storeOf(sessionOf(options, { isMoment: true }));
}

/** An empty log to be filled, under the id of another one or its own. */
export function fillPostgres(options: PostgresStoreOptions, logId: string = randomUUID()): Filling {
  const session = sessionOf(options, {
    opening: (connection, schema) => openFilling(connection, schema, logId),
  });
  const store = storeOf(session);
  const end = async (by: typeof endFilling) => {
    if (session.logId !== "") {
      await session.run((connection) => by(connection, session.schemaOptions, logId));
    }
    await store.close();
  };
  return { store, commit: () => end(endFilling), abandon: () => end(abandonFilling) };
}

/** Of a log that was copied elsewhere: nobody opens it, or writes to it, from now on. */
export async function leavePostgres(
  options: PostgresStoreOptions,
  departure: Departure,
): Promise<void> {
  const session = sessionOf(options);
  try {
    await session.open();
    await session.write((connection) => markMoved(connection, session.schemaOptions, departure));
  } finally {
    await session.close(() => Promise.resolve());
  }
}

function sessionOf(
  options: PostgresStoreOptions,
  use: Pick<PostgresSessionOptions, "isMoment" | "opening"> = {},
): PostgresSession {
  const { password, durability = "strict", writtenBy = "rollcall" } = options;
  return new PostgresSession({
    url: parsePostgresUrl(options.url),
    ...(password && { password }),
    durability,
    writtenBy,
    onWarning: options.onWarning ?? (() => undefined),
    ...use,
  });
}

function storeOf(session: PostgresSession): Store {
  const writer = new Writer({
    appendToLog: (call) => appendToLog(session, call),
    appendToStreams: (parts) => appendToStreams(session, parts),
    forget: (streams) => forget(session, streams),
    errorOf: (error) => postgresError(error, session.place),
  });
  const log = new PostgresLog(session, writer);
  return {
    description: `postgres at ${session.place}`,
    log,
    streams: new PostgresStreams(session, writer),
    close: () => log.close(),
  };
}
