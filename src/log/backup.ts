/**
 * A backup of a store that is no file: what it holds at one moment is copied into a SQLite file,
 * and that is backed up. So there is one format, and a backup of any store can be restored into any
 * other.
 */
import { existsSync } from "node:fs";
import { RollcallError } from "../core/errors.ts";
import { copyStore, type OnCopyProgress } from "./copy.ts";
import type { BackupFacts } from "./sqlite/backup.ts";
import { sqliteStore } from "./sqlite/store.ts";
import { backUp, removeAll } from "./sqlite/upkeep.ts";
import type { Store } from "./store.ts";

export interface StoreBackupOptions {
  /** Shows one moment; it is closed. */
  readonly from: Store;
  /** The backup; there must be none of that name. */
  readonly target: string;
  readonly madeBy: string;
  readonly onProgress?: OnCopyProgress;
}

export async function backUpStore(options: StoreBackupOptions): Promise<BackupFacts> {
  const { from, target, madeBy, onProgress } = options;
  const path = `${target}.copy.part`;
  const to = sqliteStore({ path, writtenBy: madeBy });
  try {
    if (existsSync(target)) {
      throw new RollcallError("ALREADY_EXISTS", `${target} is there already: choose another name`);
    }
    removeAll(path);
    const madeAtMs = Date.now();
    const { logId } = await copyStore(from, to, onProgress);
    await to.close();
    return await backUp({ path, target, madeBy, copyOf: { logId, madeAtMs } });
  } finally {
    await Promise.all([from.close(), to.close()]);
    removeAll(path);
  }
}
