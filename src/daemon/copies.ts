/** Backups of the log that the configuration names, whatever holds it, and what they go into. */
import { existsSync } from "node:fs";
import { codeOf, invalidArgument } from "../core/errors.ts";
import { backUpStore } from "../log/backup.ts";
import type { Filling } from "../log/filling.ts";
import type { LogRange } from "../log/log.ts";
import { fillNats, natsMoment } from "../log/nats/store.ts";
import { fillPostgres, postgresMoment } from "../log/postgres/store.ts";
import type { BackupFacts } from "../log/sqlite/backup.ts";
import { sqliteStore } from "../log/sqlite/store.ts";
import { backUp, fillFile } from "../log/sqlite/upkeep.ts";
import type { Store } from "../log/store.ts";
import { natsOptions, postgresOptions } from "./store.ts";
import type { KeptConfig, LogConfig } from "./state-config.ts";

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
    case "nats":
      return backUpStore({
        from: () => momentOf(log, madeBy),
        target,
        madeBy,
        onProgress: ({ events, of }) => onProgress(events, of, "events"),
      });
    case "memory":
      throw invalidArgument("the daemon keeps its state in memory: there is nothing to back up");
  }
}

/** Where the log there stands; nothing where there is none, or one that is being filled. */
export async function heldBy(log: KeptConfig): Promise<LogRange | undefined> {
  if (log.kind === "sqlite" && !existsSync(log.path)) return undefined;
  const store = momentOf(log, "");
  try {
    return await store.log.open();
  } catch (error) {
    if (codeOf(error) === "NOT_FOUND" || codeOf(error) === "WRONG_STATE") return undefined;
    throw error;
  } finally {
    await store.close();
  }
}

/** What it holds when it is opened, for reading. */
export function momentOf(log: KeptConfig, writtenBy: string): Store {
  switch (log.kind) {
    case "sqlite":
      return sqliteStore({ path: log.path, writtenBy, readOnly: true });
    case "postgres":
      return postgresMoment(postgresOptions(log, writtenBy));
    case "nats":
      return natsMoment(natsOptions(log, writtenBy));
  }
}

/** An empty log, to be filled with what another one held; a file draws an id of its own. */
export function fillingOf(log: KeptConfig, writtenBy: string, logId?: string): Filling {
  switch (log.kind) {
    case "sqlite":
      return fillFile(log.path, writtenBy);
    case "postgres":
      return fillPostgres(postgresOptions(log, writtenBy), logId);
    case "nats":
      return fillNats(natsOptions(log, writtenBy), logId);
  }
}
