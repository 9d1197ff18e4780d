/** Backups of the log that the configuration names, whatever holds it, and what they go into. */
import { codeOf, invalidArgument } from "../core/errors.ts";
import { backUpStore } from "../log/backup.ts";
import type { Filling } from "../log/filling.ts";
import type { LogRange } from "../log/log.ts";
import { fillNats, natsMoment } from "../log/nats/store.ts";
import { fillPostgres, postgresMoment } from "../log/postgres/store.ts";
import type { BackupFacts } from "../log/sqlite/backup.ts";
import { backUp } from "../log/sqlite/upkeep.ts";
import type { Store } from "../log/store.ts";
import { natsOptions, postgresOptions } from "./store.ts";
import type { LogConfig, SharedConfig } from "./state-config.ts";

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
export async function heldBy(log: SharedConfig): Promise<LogRange | undefined> {
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

function momentOf(log: SharedConfig, writtenBy: string): Store {
  return log.kind === "nats"
    ? natsMoment(natsOptions(log, writtenBy))
    : postgresMoment(postgresOptions(log, writtenBy));
}

/** A log that other members will share, to be filled with what another one held. */
export function fillingOf(log: SharedConfig, writtenBy: string, logId?: string): Filling {
  return log.kind === "nats"
    ? fillNats(natsOptions(log, writtenBy), logId)
    : fillPostgres(postgresOptions(log, writtenBy), logId);
}
