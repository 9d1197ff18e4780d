/** The store that the configuration chooses. */
import { resolve } from "node:path";
import { RollcallError } from "../core/errors.ts";
import { memoryStore } from "../log/memory/store.ts";
import { mirroredStore } from "../log/mirror/store.ts";
import { natsStore, type NatsStoreOptions } from "../log/nats/store.ts";
import { postgresStore, type PostgresStoreOptions } from "../log/postgres/store.ts";
import { sqliteStore } from "../log/sqlite/store.ts";
import type { Store } from "../log/store.ts";
import { closeFolder, makeFolder } from "../machine/folders.ts";
import type { Config } from "./config.ts";
import type { Logger } from "./logger.ts";
import type { LogConfig, NatsConfig, PostgresConfig } from "./state-config.ts";

export function storeOf({ dataDir, log }: Config, release: string, logger: Logger): Store {
  if (dataDir !== undefined) ownFolder(dataDir, logger);
  const writtenBy = `rollcall ${release}`;
  const onWarning = (message: string) => logger.warn(message);
  const store = bareStore(log, { writtenBy, onWarning });
  if (!store.log.shared || dataDir === undefined) return store;
  return mirroredStore({ store, path: resolve(dataDir, "mirror.db"), writtenBy, onWarning });
}

interface StoreNotes {
  readonly writtenBy: string;
  readonly onWarning: (message: string) => void;
}

function bareStore(log: LogConfig, { writtenBy, onWarning }: StoreNotes): Store {
  switch (log.kind) {
    case "memory":
      return memoryStore();
    case "sqlite":
      return sqliteStore({ path: log.path, writtenBy });
    case "postgres":
      return postgresStore({ ...postgresOptions(log, writtenBy), onWarning });
    case "nats":
      return natsStore({ ...natsOptions(log, writtenBy), onWarning });
  }
}

export function postgresOptions(log: PostgresConfig, writtenBy: string): PostgresStoreOptions {
  const { url, durability, password } = log;
  return { url, durability, writtenBy, ...(password && { password }) };
}

export function natsOptions(log: NatsConfig, writtenBy: string): NatsStoreOptions {
  const { url, durability, monitors, replicas, credentials } = log;
  return { url, durability, monitors, replicas, writtenBy, ...(credentials && { credentials }) };
}

/** Tasks and cards may hold secrets. */
function ownFolder(dataDir: string, logger: Logger): void {
  try {
    makeFolder(dataDir, 0o700);
    const mode = closeFolder(dataDir);
    if (mode !== undefined) {
      const was = { folder: dataDir, mode: mode.toString(8) };
      logger.warn(was, "other users could write in the folder of the state: no longer");
    }
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    const message = `cannot keep the state in ${dataDir}: ${why}; choose another with --data-dir`;
    throw new RollcallError("UNAVAILABLE", message, { cause });
  }
}
