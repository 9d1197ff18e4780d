/**
 * The tables of the file, and how a file of an older program becomes one of ours.
 *
 *   schema 1 ── opened ──▶ seen as schema 2 ── first write ──▶ schema 2
 *   no file  ── opened ──▶ schema 2
 *
 * Opening writes nothing, so a full disk can be opened and read, and the program that wrote the
 * file can have it back until this one has written to it. From then on an older program refuses it,
 * because it would skip what it does not know.
 *
 * Columns that nothing fills yet are NULL, which means "not known" for ever, because files that
 * were written without them are not rewritten:
 *
 * - `checksum` of a row covers its other columns; of a batch of the log and a block of a stream
 *   also the checksum of the one before it, so that a row cannot vanish between two others.
 * - `log.id` names the append that wrote a batch, and `log.previous` the one before it: a reader
 *   that has applied another one than `previous` knows that the log is not the log it read.
 */
import { randomUUID } from "node:crypto";
import { RollcallError } from "../../core/errors.ts";
import { transaction, type Database } from "./driver.ts";

/** "Roll": tells our files from any other SQLite database. */
const APPLICATION_ID = 0x52_6f_6c_6c;
const SCHEMA_VERSION = 2;
/** Of what the entries say: a program that knows older ones only must not read the log. */
const FORMAT = 2;
const UNKNOWN_WRITER = "a rollcall of unknown version";

/** Columns that came with schema 2 stand last, as they do in a file that had a schema 1. */
const SCHEMA = `
  -- truncated, written_by, log_id (drawn once, when the log begins), format
  CREATE TABLE meta (name TEXT PRIMARY KEY, value, checksum INTEGER) WITHOUT ROWID;
  INSERT INTO meta (name, value) VALUES ('truncated', 0);

  CREATE TABLE log (
    last INTEGER PRIMARY KEY,
    first INTEGER NOT NULL,
    entries BLOB NOT NULL,
    checksum INTEGER,
    id TEXT,
    previous TEXT
  );

  CREATE TABLE snapshot (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    sequence INTEGER NOT NULL,
    is_complete INTEGER NOT NULL,
    checksum INTEGER
  );
  CREATE TABLE chunk (
    snapshot INTEGER NOT NULL,
    position INTEGER NOT NULL,
    text BLOB NOT NULL,
    checksum INTEGER,
    PRIMARY KEY (snapshot, position)
  );

  -- The row of a stream holds its first block, entries 1 to "last", if that is small.
  -- A stream without a name was removed; what is not swept may have blocks to delete.
  CREATE TABLE stream (
    id INTEGER PRIMARY KEY,
    name TEXT UNIQUE,
    trimmed INTEGER NOT NULL,
    is_swept INTEGER NOT NULL DEFAULT 0,
    last INTEGER NOT NULL DEFAULT 0,
    entries BLOB,
    checksum INTEGER
  );
  CREATE INDEX stream_to_sweep ON stream (id) WHERE is_swept = 0;
  -- All other blocks of all streams, in the order in which they came.
  CREATE TABLE journal (
    stream INTEGER NOT NULL,
    last INTEGER NOT NULL,
    first INTEGER NOT NULL,
    entries BLOB NOT NULL,
    checksum INTEGER
  );
  CREATE UNIQUE INDEX journal_by_stream ON journal (stream, last);
`;

/** How readers see the table that has other columns in schema 1. */
const SEEN_FROM_1 = `
  CREATE TEMP VIEW stream AS
  SELECT id, name, trimmed, 1 AS is_swept, 0 AS last, NULL AS entries FROM main.stream
`;

/** Changes descriptions, not rows: it takes as long for a large file as for a small one. */
const FROM_1 = `
  DROP VIEW temp.stream;
  ALTER TABLE meta ADD COLUMN checksum INTEGER;
  ALTER TABLE log ADD COLUMN checksum INTEGER;
  ALTER TABLE log ADD COLUMN id TEXT;
  ALTER TABLE log ADD COLUMN previous TEXT;
  ALTER TABLE snapshot ADD COLUMN checksum INTEGER;
  ALTER TABLE chunk ADD COLUMN checksum INTEGER;
  ALTER TABLE stream ADD COLUMN is_swept INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE stream ADD COLUMN last INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE stream ADD COLUMN entries BLOB;
  ALTER TABLE stream ADD COLUMN checksum INTEGER;
  CREATE INDEX stream_to_sweep ON stream (id) WHERE is_swept = 0;
  ALTER TABLE journal ADD COLUMN checksum INTEGER;
`;

/** Refuses the database of another program. An empty one will be ours. */
export function refuseForeign(database: Database, path: string): void {
  const tables = database
    .prepare<{ name: string }>("SELECT name FROM sqlite_schema WHERE type = 'table' LIMIT 9")
    .all();
  const id = pragma(database, "application_id");
  if (id === APPLICATION_ID || (id === 0 && tables.length === 0)) return;
  const names = tables.map(({ name }) => name).join(", ");
  throw new RollcallError(
    "STORAGE_CORRUPT",
    `${path} is no database of rollcall but of another program (with tables ${names}): ` +
      "it was not changed; use another path",
  );
}

/** Refuses what is too new, and makes what is old readable. */
export function prepareSchema(database: Database, path: string): void {
  const version = pragma(database, "user_version");
  if (version === 0) return;
  if (version > SCHEMA_VERSION) throw tooNew(database, path, `schema ${version}`);
  const format = Number(meta(database, "format") ?? 1);
  if (format > FORMAT) throw tooNew(database, path, `format ${format}`);
  if (version === 1) database.exec(SEEN_FROM_1);
}

function tooNew(database: Database, path: string, found: string): RollcallError {
  return new RollcallError(
    "STORAGE_TOO_NEW",
    `${path} was written by ${lastWriter(database)} with ${found}; this program reads up to ` +
      `schema ${SCHEMA_VERSION} and format ${FORMAT}: run that version or newer, or restore a ` +
      "backup made before it",
  );
}

/** An empty file becomes one of ours. */
export function createSchema(database: Database): void {
  if (pragma(database, "user_version") > 0) return;
  transaction(database, () => {
    database.exec(SCHEMA);
    database.exec(`PRAGMA application_id = ${APPLICATION_ID}`);
    begin(database);
  });
}

/** Makes the file this program's; inside the transaction of its first write. */
export function claimFile(database: Database, writtenBy: string): void {
  if (pragma(database, "user_version") === 1) {
    database.exec(FROM_1);
    begin(database);
  }
  if (lastWriter(database) !== writtenBy) setMeta(database, "written_by", writtenBy);
}

function begin(database: Database): void {
  database.exec(`PRAGMA user_version = ${SCHEMA_VERSION}`);
  setMeta(database, "log_id", randomUUID());
  setMeta(database, "format", FORMAT);
}

/** The name and version of the program that wrote last. */
export function lastWriter(database: Database): string {
  try {
    return String(meta(database, "written_by") ?? UNKNOWN_WRITER);
  } catch {
    // A newer schema may keep it elsewhere.
    return UNKNOWN_WRITER;
  }
}

function meta(database: Database, name: string): string | number | undefined {
  const sql = "SELECT value FROM meta WHERE name = ?";
  return database.prepare<{ value: string | number }>(sql).get(name)?.value;
}

function setMeta(database: Database, name: string, value: string | number): void {
  database.prepare("INSERT OR REPLACE INTO meta (name, value) VALUES (?, ?)").run(name, value);
}

function pragma(database: Database, name: "application_id" | "user_version"): number {
  const row = database.prepare<Record<string, number>>(`PRAGMA ${name}`).get();
  return row?.[name] ?? 0;
}
