/** Backups of the log that the configuration names, whatever holds it, and what they go into. */
import { codeOf, invalidArgument } from "../core/errors.ts";
import { backUpStore } from "../log/backup.ts";
import type { LogRange } from "../log/log.ts";
import type { Filling } from "../log/postgres/filling.ts";
import { fillPostgres, postgresMoment, type PostgresStoreOptions } from "../log/postgres/store.ts";
import type { BackupFacts } from "../log/sqlite/backup.ts";
import { backUp } from "../log/sqlite/upkeep.ts";
import type { LogConfig, PostgresConfig } from "./state-config.ts";

export interface LogBackup {
  readonly target: string;
  readonly madeBy: string;
  readonly onProgress?: (done: number, of: number, unit: "bytes" | "events") => void;
}

/** Of what is committed now, while whoever writes goes on. */
export function backUpLog(log: LogConfig, options: LogBackup): Promise<BackupFacts> {
  const { target, madeBy, onProgress = () => undefined } = options;
  switch (log.kind) {
    case "sqlite":
      return backUp({
        path: log.path,
        target,
        madeBy,
        onProgress: (bytes, of) => onProgress(bytes, of, "bytes"),
      });
    case "postgres":
      return backUpStore({
        from: postgresMoment(storeOptions(log, madeBy)),
        target,
        madeBy,
        onProgress: ({ events, of }) => onProgress(events, of, "events"),
      });
    case "nats":
      throw invalidArgument(
        "the daemon keeps its log in NATS: back it up by its own means (nats stream backup)",
      );
    case "memory":
      throw invalidArgument("the daemon keeps its state in memory: there is nothing to back up");
  }
}

/** Where the log there stands; nothing where there is none, or one that is being filled. */
export async function heldBy(log: PostgresConfig): Promise<LogRange | undefined> {
  const store = postgresMoment(storeOptions(log, ""));
  try {
    return await store.log.open();
  } catch (error) {
    if (codeOf(error) === "NOT_FOUND" || codeOf(error) === "WRONG_STATE") return undefined;
    throw error;
  } finally {
    await store.close();
  }
}

/** A log that other members will share, to be filled with what another one held. */
export function fillingOf(log: PostgresConfig, writtenBy: string, logId?: string): Filling {
  return fillPostgres(storeOptions(log, writtenBy), logId);
}

function storeOptions(log: PostgresConfig, writtenBy: string): PostgresStoreOptions {
  const { url, durability, password } = log;
  return { url, durability, writtenBy, ...(password && { password }) };
}
