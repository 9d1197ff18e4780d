/**
 * The operator's work on the file of a store: back it up while it is in use, put a backup in an
 * empty place, check all of it, give back the room that it no longer needs.
 */
import { existsSync, renameSync, rmSync, statSync } from "node:fs";
import { RollcallError } from "../../core/errors.ts";
import type { Filling } from "../filling.ts";
import type { LogRange } from "../log.ts";
import type { Store } from "../store.ts";
import { extract, partOf, readBackup, type BackupFacts } from "./backup.ts";
import { syncFolder } from "./place.ts";
import type { Name, Argument, Result } from "./protocol.ts";
import { SqliteSession } from "./session.ts";
import { sqliteStore, storeOn } from "./store.ts";
import { readWitness, RESERVED_AHEAD, writeFloor } from "./witness.ts";

/** No machine hands out more than so many tokens in a millisecond. */
const TOKENS_PER_MS = 1000;
const PROGRESS_MS = 200;

export interface BackupOptions {
  /** The database, in use or not. */
  readonly path: string;
  /** The backup; there must be none of that name. */
  readonly target: string;
  readonly madeBy: string;
  /** Of what the file is a copy of, where it is one. */
  readonly copyOf?: { readonly logId: string; readonly madeAtMs: number };
  /** How much of it is written, of about how much. */
  readonly onProgress?: (bytes: number, of: number) => void;
}

export async function backUp(options: BackupOptions): Promise<BackupFacts> {
  const { path, target, madeBy, copyOf, onProgress } = options;
  const of = sizeOf(path);
  const timer = setInterval(() => onProgress?.(sizeOf(partOf(target)), of), PROGRESS_MS);
  try {
    const floor = readWitness(path)?.floor ?? 0;
    return await withFile(path, "backup", {
      target,
      madeBy,
      floor,
      madeAtMs: Date.now(),
      ...copyOf,
    });
  } finally {
    clearInterval(timer);
    rmSync(partOf(target), { force: true });
  }
}

/** Reads and checks everything, beside the writer or without one. */
export function verify(path: string): Promise<LogRange> {
  return withFile(path, "verify", undefined);
}

async function withFile<K extends Name>(path: string, name: K, argument: Argument<K>) {
  const session = new SqliteSession({ path, writtenBy: "", isReader: true });
  try {
    await session.open();
    return (await session.call(name, argument)) as Result<K>;
  } finally {
    await session.close();
  }
}

export interface Compacted {
  readonly before: number;
  readonly after: number;
}

/** Writes the file anew, without the room of what was forgotten; nobody else may have it open. */
export async function compact(path: string): Promise<Compacted> {
  const before = sizeOf(path);
  if (!existsSync(path)) throw new RollcallError("NOT_FOUND", `${path}: there is no such file`);
  const session = new SqliteSession({ path, writtenBy: "rollcall", isReader: false });
  try {
    await session.open();
    await session.write("compact", undefined);
  } finally {
    await session.close();
  }
  return { before, after: sizeOf(path) };
}

/** A file that this process has for itself: no daemon runs on it. */
export interface OwnFile {
  readonly store: Store;
  /** Its log is where the URL leads now; no program opens the file again. */
  markMoved(to: string): Promise<void>;
}

export function ownFile(path: string, writtenBy: string): OwnFile {
  if (!existsSync(path)) throw new RollcallError("NOT_FOUND", `${path}: there is no such file`);
  const session = new SqliteSession({ path, writtenBy, isReader: false });
  const markMoved = (to: string) => session.call("markMoved", to);
  return { store: storeOn(session, path), markMoved };
}

/** A file where there is none, to be filled with what another store held. */
export function fillFile(path: string, writtenBy: string): Filling {
  if (existsSync(path)) {
    throw new RollcallError("ALREADY_EXISTS", `${path} is there already: choose another name`);
  }
  const part = partOf(path);
  removeAll(part);
  return draftOf(path, sqliteStore({ path: part, writtenBy }));
}

/** A store in the part file of a path, until it gets its place or goes. */
function draftOf(path: string, store: Store): Filling {
  const part = partOf(path);
  return {
    store,
    async commit() {
      await store.close();
      renameSync(part, path);
      syncFolder(path);
      removeAll(part);
    },
    async abandon() {
      await store.close();
      removeAll(part);
    },
  };
}

export interface Restoring {
  readonly facts: BackupFacts;
  /** The store in the backup, not open yet. */
  readonly store: Store;
  /**
   * Gives it its place; the store is closed. Tokens and terms go on above all from before, and
   * above the fence of the state: a backup may have been made where no witness was.
   */
  commit(fence?: number): Promise<void>;
  /** Leaves nothing behind. */
  abandon(): Promise<void>;
}

/** Puts a backup beside an empty place. */
export function beginRestore(file: string, path: string): Restoring {
  // Of a file that was read only, an empty write-ahead log may be left.
  const taken = existsSync(path) ? path : `${path}-wal`;
  if (sizeOf(taken) > 0 || taken === path) {
    const message = `${taken} is there already: a backup goes to an empty place; move it away`;
    throw new RollcallError("ALREADY_EXISTS", message);
  }
  const facts = readBackup(file);
  const part = partOf(path);
  removeAll(part);
  extract(facts, file, part);
  const draft = draftOf(path, sqliteStore({ path: part }));
  return {
    ...draft,
    facts,
    async commit(fence = 0) {
      await draft.store.close();
      writeFloor(path, floorAfter(facts, { fence, known: readWitness(path)?.floor ?? 0 }));
      for (const end of ["-wal", "-shm"]) rmSync(path + end, { force: true });
      await draft.commit();
    },
  };
}

/** Above all that can have been handed out since the backup was made, and all that is known of. */
export function floorAfter(
  { floor, madeAtMs }: Pick<BackupFacts, "floor" | "madeAtMs">,
  { fence, known }: Fences,
): number {
  const sinceMs = Math.max(0, Date.now() - madeAtMs);
  const since = RESERVED_AHEAD + Math.ceil(sinceMs) * TOKENS_PER_MS;
  return Math.max(known, Math.max(floor, fence) + since);
}

export interface Fences {
  /** Of the state that the backup holds. */
  readonly fence: number;
  /** Of what was at the place before. */
  readonly known: number;
}

const ENDS = ["", "-wal", "-shm", ".witness"];

/** A file with all that belongs to it. */
export function removeAll(path: string): void {
  for (const end of ENDS) rmSync(path + end, { force: true });
}

/** The same, in the place of what is there. */
export function moveFile(path: string, to: string): void {
  removeAll(to);
  for (const end of ENDS) if (existsSync(path + end)) renameSync(path + end, to + end);
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}
