/**
 * A backup of a store that is no file: what it holds at one moment is copied into a SQLite file,
 * and that is backed up. So there is one format, and a backup of any store can be restored into any
 * other.
 */
import { existsSync } from "node:fs";
import { codeOf, RollcallError } from "../core/errors.ts";
import { copyStore, type OnCopyProgress } from "./copy.ts";
import type { BackupFacts } from "./sqlite/backup.ts";
import { sqliteStore } from "./sqlite/store.ts";
import { backUp, removeAll } from "./sqlite/upkeep.ts";
import type { Store } from "./store.ts";

export interface StoreBackupOptions {
  /** Shows the moment at which it is opened; it is closed. */
  readonly from: () => Store;
  /** The backup; there must be none of that name. */
  readonly target: string;
  readonly madeBy: string;
  readonly onProgress?: OnCopyProgress;
}

/** Members may forget what is read: then another moment is tried. */
const MOMENTS = 5;

export async function backUpStore(options: StoreBackupOptions): Promise<BackupFacts> {
  const { target, madeBy } = options;
  const path = `${target}.copy.part`;
  try {
    if (existsSync(target)) {
      throw new RollcallError("ALREADY_EXISTS", `${target} is there already: choose another name`);
    }
    for (let left = MOMENTS; ; left -= 1) {
      try {
        const copyOf = await copyInto(path, options);
        return await backUp({ path, target, madeBy, copyOf });
      } catch (error) {
        if (left === 1 || codeOf(error) !== "OUT_OF_RANGE") throw error;
      }
    }
  } finally {
    removeAll(path);
  }
}

async function copyInto(
  path: string,
  { from: open, madeBy, onProgress }: StoreBackupOptions,
): Promise<{ readonly logId: string; readonly madeAtMs: number }> {
  removeAll(path);
  const madeAtMs = Date.now();
  const [from, to] = [open(), sqliteStore({ path, writtenBy: madeBy })];
  try {
    const { logId } = await copyStore(from, to, onProgress);
    return { logId, madeAtMs };
  } finally {
    await Promise.all([from.close(), to.close()]);
  }
}
