/**
 * Opening the file: make it, lock it, see whose it is, check it.
 *
 * The checks are as deep as they are cheap: of the rows of a file that was closed well only the end
 * of the log, and all of one whose write-ahead log is still there (a crash), or that is small.
 * Whatever is read later is checked for gaps again. The pages are checked by opening.ts.
 */
import {
  accessSync,
  chmodSync,
  closeSync,
  constants,
  existsSync,
  mkdirSync,
  openSync,
  statSync,
} from "node:fs";
import { dirname } from "node:path";
import { RollcallError } from "../../core/errors.ts";
import { checkDatabase } from "./check.ts";
import { connect, storageError, type Database } from "./driver.ts";
import { createSchema, prepareSchema, refuseForeign } from "./schema.ts";
import { WAL_BYTES, WAL_PAGES } from "./wal-room.ts";
import { lockForWriting, lockedError, nameHolder } from "./writer-lock.ts";

/** The operator may let a group read. */
const OTHERS = 0o037;
/** A writer that begins has the file for itself for an instant. */
const READER_WAITS_MS = 1000;

/** The one writer of the file. */
export async function openDatabase(path: string): Promise<Database> {
  let database: Database | undefined;
  try {
    prepareFile(path);
    const closedWell = fileBytes(`${path}-wal`) === 0;
    database = await lockForWriting(path);
    prepareSchema(database, path);
    database.exec(`
      PRAGMA synchronous = FULL;
      PRAGMA wal_autocheckpoint = ${WAL_PAGES};
      PRAGMA journal_size_limit = ${WAL_BYTES};
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

/**
 * A reader, beside the writer or without one: it sees what is committed, and writes nothing. When
 * it is closed last, SQLite tidies up: a write-ahead log with something in it has to stay, which a
 * connection that is read-only leaves; of a file that was closed well nothing is to be left beside.
 */
export async function openForReading(path: string): Promise<Database> {
  if (!existsSync(path)) throw new RollcallError("NOT_FOUND", `${path}: there is no such file`);
  const database = await connect(path, { readOnly: fileBytes(`${path}-wal`) > 0 });
  try {
    database.exec(`PRAGMA busy_timeout = ${READER_WAITS_MS}`);
    refuseForeign(database, path);
    prepareSchema(database, path);
    database.exec("PRAGMA query_only = ON");
    return database;
  } catch (error) {
    database.close();
    throw lockedError(path, error);
  }
}

/**
 * Only its owner may read what agents do. A file that is there is not opened: closing it would end
 * the locks that this process has on it.
 */
function prepareFile(path: string): void {
  const missing: string[] = [];
  let existing = path;
  for (; !existsSync(existing); existing = dirname(existing)) missing.unshift(existing);
  // Asked first, because mkdir says "no such file" of a disk that is read-only.
  accessSync(existing, constants.W_OK);
  if (missing.length === 0) return closeToOthers(path);
  // One by one: in /proc, where none can be made, a recursive mkdir of Node never returns.
  for (const folder of missing.slice(0, -1)) mkdirSync(folder, { mode: 0o700 });
  closeSync(openSync(path, "ax", 0o600));
}

/** A file of this user's that others may read or write is theirs no longer. */
function closeToOthers(path: string): void {
  for (const file of [path, `${path}-wal`, `${path}-shm`]) {
    const about = statSync(file, { throwIfNoEntry: false });
    if (!about || (about.mode & OTHERS) === 0 || about.uid !== process.getuid?.()) continue;
    chmodSync(file, about.mode & ~OTHERS & 0o777);
  }
}

function fileBytes(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}
