/**
 * Opening the file: make it, lock it, see whose it is, check it.
 *
 * The checks are as deep as they are cheap. Of a file that was closed well only the end of the log
 * is looked at; one whose write-ahead log is still there (a crash), or that is small, is checked
 * whole. Whatever is read later is checked for gaps again.
 */
import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { hostname } from "node:os";
import { dirname } from "node:path";
import { codeOf, RollcallError } from "../../core/errors.ts";
import { checkDatabase } from "./check.ts";
import { connect, storageError, type Database } from "./driver.ts";
import { createSchema, prepareSchema } from "./schema.ts";

/**
 * 8 MB of write-ahead log, then it is moved into the file and written over from its start. Syncing
 * what grows is half as fast as syncing what is written over, so longer is slower for small commits
 * and shorter is slower for large ones.
 */
const CHECKPOINT_PAGES = 2000;

export async function openDatabase(path: string): Promise<Database> {
  let database: Database | undefined;
  try {
    prepareFile(path);
    const closedWell = fileBytes(`${path}-wal`) === 0;
    database = await connect(path);
    lock(database, path);
    prepareSchema(database, path);
    database.exec(`
      PRAGMA journal_mode = WAL;
      PRAGMA synchronous = FULL;
      PRAGMA wal_autocheckpoint = ${CHECKPOINT_PAGES};
      PRAGMA journal_size_limit = ${CHECKPOINT_PAGES * 4096};
    `);
    createSchema(database);
    checkDatabase(database, { path, bytes: fileBytes(path), closedWell });
    nameHolder(path);
    return database;
  } catch (error) {
    database?.close();
    throw storageError(error, path);
  }
}

/** Only its owner may read what agents do. */
function prepareFile(path: string): void {
  const missing: string[] = [];
  let existing = dirname(path);
  for (; !existsSync(existing); existing = dirname(existing)) missing.unshift(existing);
  // Asked first, because mkdir says "no such file" of a disk that is read-only.
  accessSync(existing, constants.W_OK);
  // One by one: in /proc, where none can be made, a recursive mkdir of Node never returns.
  for (const folder of missing) mkdirSync(folder, { mode: 0o700 });
  closeSync(openSync(path, "a", 0o600));
}

function fileBytes(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

/** In this mode SQLite keeps the lock from the first transaction until the database is closed. */
function lock(database: Database, path: string): void {
  try {
    database.exec("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; COMMIT");
  } catch (error) {
    if (codeOf(storageError(error, path)) === "LOCKED") throw lockedError(path, error);
    throw error;
  }
}

/**
 * The lock itself is SQLite's: it ends with its process. This file beside it only names the holder,
 * for the message to a second process, so a stale one blocks no one.
 */
function nameHolder(path: string): void {
  const holder = { pid: process.pid, host: hostname(), since: new Date().toISOString() };
  try {
    writeFileSync(lockFile(path), `${JSON.stringify(holder)}\n`, { mode: 0o600 });
  } catch {
    // A full disk: the store can be read all the same.
  }
}

export function forgetHolder(path: string): void {
  rmSync(lockFile(path), { force: true });
}

function lockedError(path: string, cause: unknown): RollcallError {
  const message = `${path} is in use by ${readHolder(path)}: stop it first, or use another path`;
  return new RollcallError("LOCKED", message, { cause });
}

function readHolder(path: string): string {
  try {
    const holder: unknown = JSON.parse(readFileSync(lockFile(path), "utf8"));
    if (typeof holder === "object" && holder && "pid" in holder && "host" in holder) {
      return `process ${String(holder.pid)} on ${String(holder.host)}`;
    }
  } catch {
    // The holder has not written it yet, or is no rollcall.
  }
  return "another process";
}

function lockFile(path: string): string {
  return `${path}.lock`;
}
