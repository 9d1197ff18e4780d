/**
 * The mirror of a member that is stopped, as something to restore from: the end of the log and a
 * snapshot before it. What jobs said is in streams, of which a mirror has none.
 */
import { existsSync } from "node:fs";
import { RollcallError } from "../../core/errors.ts";
import { memoryStore } from "../memory/store.ts";
import { sqliteStore } from "../sqlite/store.ts";
import type { Store } from "../store.ts";
import { mirroredId } from "./mirror.ts";

export interface FoundMirror {
  /** Open; its log, and no streams. */
  readonly store: Store;
  /** Of the log that it is a mirror of. */
  readonly logId: string;
  readonly head: number;
}

export async function openMirror(path: string): Promise<FoundMirror> {
  if (!existsSync(path)) throw new RollcallError("NOT_FOUND", `${path}: there is no such file`);
  const store = sqliteStore({ path });
  try {
    const { head } = await store.log.open();
    const logId = await mirroredId(store);
    if (logId === "") {
      throw new RollcallError(
        "INVALID_ARGUMENT",
        `${path} is no mirror of a log, or an unfinished one`,
      );
    }
    const none = memoryStore();
    await none.log.open();
    return { store: { ...store, streams: none.streams }, logId, head };
  } catch (error) {
    await store.close();
    throw error;
  }
}
