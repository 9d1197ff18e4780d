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
import type { Store } from "../store.ts";
import type { Durability } from "./durability.ts";
import { PostgresLog } from "./log.ts";
import { PostgresSession } from "./session.ts";
import { PostgresStreams } from "./streams.ts";
import { parsePostgresUrl } from "./url.ts";
import { Writer } from "./writer.ts";

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
  const { password, durability = "strict", writtenBy = "rollcall" } = options;
  const session = new PostgresSession({
    url: parsePostgresUrl(options.url),
    ...(password && { password }),
    durability,
    writtenBy,
    onWarning: options.onWarning ?? (() => undefined),
  });
  const writer = new Writer(session);
  const log = new PostgresLog(session, writer);
  return {
    description: `postgres at ${session.place}`,
    log,
    streams: new PostgresStreams(session, writer),
    close: () => log.close(),
  };
}
