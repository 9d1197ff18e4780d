/**
 * Opening the file: make it, lock it, see whose it is, bring it to our schema, check it.
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
  statSync,
} from "node:fs";
import { dirname } from "node:path";
import { codeOf, RollcallError } from "../../core/errors.ts";
import { checkDatabase } from "./check.ts";
import { connect, transaction, type Database } from "./driver.ts";
import { corrupt, storageError } from "./errors.ts";
import { lockedError, nameHolder } from "./lock.ts";
import type { OpenOptions } from "./protocol.ts";

/** "Roll": tells our files from any other SQLite database. */
const APPLICATION_ID = 0x52_6f_6c_6c;
const SCHEMA_VERSION = 1;

const SCHEMA = `
  CREATE TABLE meta (name TEXT PRIMARY KEY, value) WITHOUT ROWID;
  INSERT INTO meta VALUES ('truncated', 0);

  CREATE TABLE log (last INTEGER PRIMARY KEY, first INTEGER NOT NULL, entries BLOB NOT NULL);

  CREATE TABLE snapshot (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    sequence INTEGER NOT NULL,
    is_complete INTEGER NOT NULL
  );
  CREATE TABLE chunk (
    snapshot INTEGER NOT NULL,
    position INTEGER NOT NULL,
    text BLOB NOT NULL,
    PRIMARY KEY (snapshot, position)
  );

  -- A stream without a name was removed and waits to be swept.
  CREATE TABLE stream (id INTEGER PRIMARY KEY, name TEXT UNIQUE, trimmed INTEGER NOT NULL);
  CREATE TABLE journal (
    stream INTEGER NOT NULL,
    last INTEGER NOT NULL,
    first INTEGER NOT NULL,
    entries BLOB NOT NULL
  );
  CREATE UNIQUE INDEX journal_by_stream ON journal (stream, last);
`;

/**
 * 8 MB of write-ahead log, then it is moved into the file and written over from its start. Syncing
 * what grows is half as fast as syncing what is written over, so longer is slower for small commits
 * and shorter is slower for large ones.
 */
const CHECKPOINT_PAGES = 2000;

export async function openDatabase({ path, writtenBy }: OpenOptions): Promise<Database> {
  let database: Database | undefined;
  try {
    prepareFile(path);
    const closedWell = fileBytes(`${path}-wal`) === 0;
    database = await connect(path);
    lock(database, path);
    identify(database, path);
    database.exec(`
      PRAGMA journal_mode = WAL;
      PRAGMA synchronous = FULL;
      PRAGMA wal_autocheckpoint = ${CHECKPOINT_PAGES};
      PRAGMA journal_size_limit = ${CHECKPOINT_PAGES * 4096};
    `);
    migrate(database, writtenBy);
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
  let existing = dirname(path);
  while (!existsSync(existing)) existing = dirname(existing);
  // Asked first, because mkdir says "no such file" of a disk that is read-only.
  accessSync(existing, constants.W_OK);
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
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

function identify(database: Database, path: string): void {
  const application = pragma(database, "application_id");
  const version = pragma(database, "user_version");
  const tables = database.prepare<{ n: number }>("SELECT count(*) AS n FROM sqlite_schema").get();
  if (application === 0 && tables?.n === 0) return;
  if (application !== APPLICATION_ID) throw corrupt(path, "it is no database of rollcall");
  if (version <= SCHEMA_VERSION) return;
  throw new RollcallError(
    "STORAGE_TOO_NEW",
    `${path} was written by ${writer(database)} with schema ${version}; this program reads up to ` +
      `schema ${SCHEMA_VERSION}: run that version or newer, or restore a backup made before it`,
  );
}

function migrate(database: Database, writtenBy: string): void {
  transaction(database, () => {
    if (pragma(database, "user_version") === 0) {
      database.exec(SCHEMA);
      database.exec(`PRAGMA application_id = ${APPLICATION_ID}`);
      database.exec(`PRAGMA user_version = ${SCHEMA_VERSION}`);
    }
    // Nothing is written when nothing changed: a full disk can be opened, and read.
    if (writer(database) === writtenBy) return;
    database.prepare("INSERT OR REPLACE INTO meta VALUES ('written_by', ?)").run(writtenBy);
  });
}

function writer(database: Database): string {
  try {
    const sql = "SELECT value FROM meta WHERE name = 'written_by'";
    return database.prepare<{ value: string }>(sql).get()?.value ?? "a newer rollcall";
  } catch {
    return "a newer rollcall";
  }
}

function pragma(database: Database, name: "application_id" | "user_version"): number {
  const row = database.prepare<Record<string, number>>(`PRAGMA ${name}`).get();
  return row?.[name] ?? 0;
}
