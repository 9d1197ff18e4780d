/**
 * The tables of the file, and how a file of an older program becomes one of ours.
 *
 *   schema 1 ── opened ──▶ seen as schema 3 ──┐
 *   schema 2 ── opened ──▶ seen as schema 3 ──┴─ first write ──▶ schema 3
 *   no file  ── opened ──▶ schema 3
 *
 * Opening writes nothing, so a full disk can be opened and read, and the program that wrote the
 * file can have it back until this one has written to it. From then on an older program refuses it,
 * because it would skip what it does not know.
 *
 * Every row has a checksum (see checksum.ts), but for those that an older program wrote: these are
 * not rewritten, and `unchecked` says how far they reach. `log.id` names the append that wrote a
 * batch, and `log.previous` the one before it: a reader that has applied another one than
 * `previous` knows that the log is not the log it read.
 */
import { randomUUID } from "node:crypto";
import { crc32 } from "node:zlib";
import { RollcallError } from "../../core/errors.ts";
import { movedAway } from "../moved.ts";
import { ALL_CHECKED, checksumOf, type Unchecked } from "./checksum.ts";
import { corrupt, transaction, type Database } from "./driver.ts";

/** "Roll": tells our files from any other SQLite database. */
const APPLICATION_ID = 0x52_6f_6c_6c;
const SCHEMA_VERSION = 3;
/** Of what the entries say: a program that knows older ones only must not read the log. */
const FORMAT = 2;
/** Of a file whose log was moved elsewhere: above all that any program knows. */
const MOVED_FORMAT = 1_000_000;
const UNKNOWN_WRITER = "a rollcall of unknown version";

/** Columns that came with a later schema stand last, as they do in a file that was raised. */
const SCHEMA = `
  -- log_id (drawn once, when the log begins), format, written_by, tables (their checksum),
  -- truncated, base (the checksum of what was truncated), truncated_id (the append that wrote the
  -- last entry of it), unchecked, moved (the URL of the store that has the log now)
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
  -- "base" is the checksum of what was trimmed.
  CREATE TABLE stream (
    id INTEGER PRIMARY KEY,
    name TEXT UNIQUE,
    trimmed INTEGER NOT NULL,
    is_swept INTEGER NOT NULL DEFAULT 0,
    last INTEGER NOT NULL DEFAULT 0,
    entries BLOB,
    checksum INTEGER,
    base INTEGER
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

/** How readers see the tables that have other columns in an older schema. */
const SEEN_FROM_1 = `
  CREATE TEMP VIEW log AS
  SELECT last AS rowid, last, first, entries, NULL AS checksum, '' AS id, '' AS previous
  FROM main.log;
  CREATE TEMP VIEW snapshot AS
  SELECT id, sequence, is_complete, NULL AS checksum FROM main.snapshot;
  CREATE TEMP VIEW chunk AS
  SELECT snapshot, position, text, NULL AS checksum FROM main.chunk;
  CREATE TEMP VIEW stream AS
  SELECT id, name, trimmed, 1 AS is_swept, 0 AS last, NULL AS entries, NULL AS checksum,
         NULL AS base
  FROM main.stream;
  CREATE TEMP VIEW journal AS
  SELECT rowid, stream, last, first, entries, NULL AS checksum FROM main.journal;
`;
const UNSEEN_FROM_1 = `
  DROP VIEW temp.log;
  DROP VIEW temp.snapshot;
  DROP VIEW temp.chunk;
  DROP VIEW temp.stream;
  DROP VIEW temp.journal;
`;
const SEEN_FROM_2 = `
  CREATE TEMP VIEW stream AS
  SELECT id, name, trimmed, is_swept, last, entries, checksum, NULL AS base FROM main.stream;
`;

/** Changes descriptions, not rows: it takes as long for a large file as for a small one. */
const FROM_1 = `
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
const FROM_2 = "ALTER TABLE stream ADD COLUMN base INTEGER";

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

/** Refuses what is too new or damaged, and makes what is old readable. */
export function prepareSchema(database: Database, path: string): void {
  const version = pragma(database, "user_version");
  if (version === 0 && isEmpty(database)) return;
  if (version > SCHEMA_VERSION) throw tooNew(database, path, `schema ${version}`);
  if (version < SCHEMA_VERSION && hasBase(database)) {
    throw corrupt(path, `its header says schema ${version}, but its tables are of a later one`);
  }
  if (version === SCHEMA_VERSION) checkMeta(database, path);
  const moved = meta(database, "moved");
  if (moved !== undefined) throw movedAway(path, String(moved));
  const format = Number(meta(database, "format") ?? 1);
  if (format > FORMAT) throw tooNew(database, path, `format ${format}`);
  if (version === 1) database.exec(SEEN_FROM_1);
  if (version === 2) database.exec(SEEN_FROM_2);
}

/** Inside a transaction: from now on no program opens the file, older ones neither. */
export function markMoved(database: Database, to: string): void {
  setMeta(database, "moved", to);
  setMeta(database, "format", MOVED_FORMAT);
}

function tooNew(database: Database, path: string, found: string): RollcallError {
  return new RollcallError(
    "STORAGE_TOO_NEW",
    `${path} was written by ${lastWriter(database)} with ${found}; this program reads up to ` +
      `schema ${SCHEMA_VERSION} and format ${FORMAT}: run that version or newer, or restore a ` +
      "backup made before it",
  );
}

/** All rows that describe the file, and that its tables are as they were made. */
function checkMeta(database: Database, path: string): void {
  const rows = database
    .prepare<MetaRow & { readonly checksum: number }>("SELECT name, value, checksum FROM meta")
    .all();
  for (const { name, value, checksum } of rows) {
    if (checksum === checksumOf([name, value])) continue;
    throw corrupt(path, `row ${name} of meta: the checksum is wrong`);
  }
  const missing = REQUIRED.find((name) => rows.every((row) => row.name !== name));
  if (missing !== undefined) throw corrupt(path, `row ${missing} of meta is missing`);
  if (meta(database, "tables") !== tablesChecksum(database)) {
    throw corrupt(path, "the description of its tables has changed");
  }
}

const REQUIRED = ["truncated", "base", "log_id", "format", "tables", "unchecked"];

interface MetaRow {
  readonly name: string;
  readonly value: string | number;
}

/** Tables of others are no damage: the replay of ARCP's SDK makes one in any file. */
const TABLES = "'meta', 'log', 'snapshot', 'chunk', 'stream', 'journal'";

function tablesChecksum(database: Database): number {
  const ours = `tbl_name IN (${TABLES}) AND name NOT LIKE 'sqlite_%'`;
  const described = database
    .prepare<{ name: string; sql: string | null }>(
      `SELECT name, sql FROM sqlite_schema WHERE ${ours} ORDER BY name`,
    )
    .all();
  return crc32(JSON.stringify(described.map(({ name, sql }) => [name, sql])));
}

/** An empty file becomes one of ours. */
export function createSchema(database: Database): void {
  if (pragma(database, "user_version") > 0) return;
  transaction(database, () => {
    database.exec(SCHEMA);
    database.exec(`PRAGMA application_id = ${APPLICATION_ID}`);
    setMeta(database, "truncated", 0);
    setMeta(database, "log_id", randomUUID());
    begin(database, ALL_CHECKED);
  });
}

/** Makes the file this program's; inside the transaction of its first write. */
export function claimFile(database: Database, writtenBy: string): void {
  const version = pragma(database, "user_version");
  if (version < SCHEMA_VERSION) raise(database, version);
  if (lastWriter(database) !== writtenBy) setMeta(database, "written_by", writtenBy);
}

function raise(database: Database, version: number): void {
  const unchecked = {
    log: lastRow(database, "log"),
    snapshot: lastRow(database, "snapshot"),
    stream: lastRow(database, "stream"),
    journal: lastRow(database, "journal"),
  };
  database.exec(version === 1 ? UNSEEN_FROM_1 : "DROP VIEW temp.stream");
  if (version === 1) {
    database.exec(FROM_1);
    setMeta(database, "log_id", randomUUID());
  }
  database.exec(FROM_2);
  for (const { name, value } of database.prepare<MetaRow>("SELECT name, value FROM meta").all()) {
    setMeta(database, name, value);
  }
  begin(database, unchecked);
}

function begin(database: Database, unchecked: Unchecked): void {
  database.exec(`PRAGMA user_version = ${SCHEMA_VERSION}`);
  setMeta(database, "format", FORMAT);
  setMeta(database, "base", 0);
  setMeta(database, "unchecked", JSON.stringify(unchecked));
  setMeta(database, "tables", tablesChecksum(database));
}

function lastRow(database: Database, table: string): number {
  const sql = `SELECT ifnull(max(rowid), 0) AS row FROM main.${table}`;
  return database.prepare<{ row: number }>(sql).get()?.row ?? 0;
}

/** Whether the tables are ours, and not those of an older program. */
export function isRaised(database: Database): boolean {
  return pragma(database, "user_version") === SCHEMA_VERSION;
}

/** How far rows are without a checksum: all of them until the file is raised. */
export function readUnchecked(database: Database): Unchecked {
  if (!isRaised(database)) return NONE_CHECKED;
  return JSON.parse(String(meta(database, "unchecked"))) as Unchecked;
}

const NONE_CHECKED: Unchecked = {
  log: Infinity,
  snapshot: Infinity,
  stream: Infinity,
  journal: Infinity,
};

/** The name and version of the program that wrote last. */
export function lastWriter(database: Database): string {
  try {
    return String(meta(database, "written_by") ?? UNKNOWN_WRITER);
  } catch {
    // A newer schema may keep it elsewhere.
    return UNKNOWN_WRITER;
  }
}

/** Drawn once, when the log began. */
export function logIdOf(database: Database): string {
  return String(meta(database, "log_id") ?? "");
}

/** The append that wrote the last entry that was truncated; empty where nobody knows. */
export function truncatedId(database: Database): string {
  return String(meta(database, "truncated_id") ?? "");
}

function meta(database: Database, name: string): string | number | undefined {
  const sql = "SELECT value FROM meta WHERE name = ?";
  return database.prepare<{ value: string | number }>(sql).get(name)?.value;
}

export function setMeta(database: Database, name: string, value: string | number): void {
  database
    .prepare("INSERT OR REPLACE INTO meta (name, value, checksum) VALUES (?, ?, ?)")
    .run(name, value, checksumOf([name, value]));
}

/** Whether it has none of our tables yet. */
export function isEmpty(database: Database): boolean {
  const sql = "SELECT 1 FROM sqlite_schema WHERE name = 'log'";
  return database.prepare(sql).get() === undefined;
}

function hasBase(database: Database): boolean {
  const sql = "SELECT 1 FROM pragma_table_info('stream') WHERE name = 'base'";
  return database.prepare(sql).get() !== undefined;
}

function pragma(database: Database, name: "application_id" | "user_version"): number {
  const row = database.prepare<Record<string, number>>(`PRAGMA ${name}`).get();
  return row?.[name] ?? 0;
}
