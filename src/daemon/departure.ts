/**
 * The log that is about to be moved elsewhere, which nobody may write to meanwhile. The lock of a
 * file proves that its daemon is stopped. Members of a shared log are seen by their leader's signs
 * of life, several a second; one that begins to write all the same is noticed when the log is
 * marked, because it must end then where it ended when it was copied.
 */
import { setTimeout as delay } from "node:timers/promises";
import { invalidArgument, RollcallError } from "../core/errors.ts";
import { FAILOVER } from "../core/limits.ts";
import type { LogRange } from "../log/log.ts";
import { leaveNats } from "../log/nats/store.ts";
import { leavePostgres } from "../log/postgres/store.ts";
import { ownFile } from "../log/sqlite/upkeep.ts";
import type { Store } from "../log/store.ts";
import { heldBy, momentOf } from "./copies.ts";
import type { LogConfig, SharedConfig } from "./state-config.ts";
import { natsOptions, postgresOptions } from "./store.ts";

/** Longer than any leader goes without a sign. */
const STILL_MS = FAILOVER.calm.silenceMs;

export interface LeavingLog {
  readonly store: Store;
  readonly range: LogRange;
  /** Its path or URL. */
  readonly place: string;
  /** It is at this URL now. */
  markMoved(to: string): Promise<void>;
}

/** Open for reading; whoever has it closes its store. */
export async function leavingLog(log: LogConfig, writtenBy: string): Promise<LeavingLog> {
  switch (log.kind) {
    case "memory":
      throw invalidArgument("the daemon keeps its state in memory: there is nothing to move");
    case "sqlite": {
      const file = ownFile(log.path, writtenBy);
      const found = await opened(file.store);
      return { ...found, place: log.path, markMoved: (to) => file.markMoved(to) };
    }
    case "postgres":
    case "nats": {
      await checkStill(log);
      const { store, range } = await opened(momentOf(log, writtenBy));
      const markMoved = (to: string) =>
        log.kind === "nats"
          ? leaveNats(natsOptions(log, writtenBy), { range, to })
          : leavePostgres(postgresOptions(log, writtenBy), { range, to });
      return { store, range, place: log.url, markMoved };
    }
  }
}

async function opened(store: Store): Promise<Pick<LeavingLog, "store" | "range">> {
  try {
    return { store, range: await store.log.open() };
  } catch (error) {
    await store.close();
    throw error;
  }
}

async function checkStill(log: SharedConfig): Promise<void> {
  const before = await heldBy(log);
  await delay(STILL_MS);
  const after = await heldBy(log);
  if (before?.mark === after?.mark) return;
  const what = `a member leads on ${log.url}: its signs of life are in the log`;
  throw new RollcallError("WRONG_STATE", `${what}; stop all members first`);
}
