/**
 * SQLite itself: built into Node from 22.13, and for Node 20 the same interface as a package that
 * brings its binary along; which one is found out when the database is opened. And what it and the
 * file system say when they fail, in our codes, with what to do about it.
 */
import { statfsSync } from "node:fs";
import { dirname } from "node:path";
import { RollcallError, type ErrorCode } from "../../core/errors.ts";

export type SqlValue = number | string | Uint8Array | null;

export interface Statement<Row> {
  run(...values: SqlValue[]): { readonly changes: number; readonly lastInsertRowid: number };
  get(...values: SqlValue[]): Row | undefined;
  all(...values: SqlValue[]): Row[];
}

export interface Database {
  exec(sql: string): void;
  /** `Row` is the shape that the SQL gives; the caller keeps both in step. */
  prepare<Row = unknown>(sql: string): Statement<Row>;
  close(): void;
}

/** A blob as a parameter: Node 22 takes an empty one for NULL. */
export const BLOB = "ifnull(?, x'')";

interface SqliteModule {
  readonly DatabaseSync: new (path: string, options: ConnectOptions) => Database;
}

interface ConnectOptions {
  readonly readOnly?: boolean;
}

/** A database that compiles each statement once, when it is first used. */
export async function connect(path: string, options: ConnectOptions = {}): Promise<Database> {
  const { DatabaseSync } = await loadDriver();
  const database = new DatabaseSync(path, options);
  const statements = new Map<string, Statement<unknown>>();
  return {
    exec: (sql) => database.exec(sql),
    prepare<Row>(sql: string): Statement<Row> {
      const statement = statements.get(sql) ?? database.prepare(sql);
      statements.set(sql, statement);
      return statement as Statement<Row>;
    },
    close: () => database.close(),
  };
}

async function loadDriver(): Promise<SqliteModule> {
  const builtIn = builtInDriver();
  if (builtIn) return builtIn;
  try {
    return (await import("@photostructure/sqlite")) as SqliteModule;
  } catch (cause) {
    throw new RollcallError(
      "UNIMPLEMENTED",
      "this Node has no SQLite: use Node 22.13 or newer, or npm install @photostructure/sqlite",
      { cause },
    );
  }
}

/** Node 22 would say on stderr that it is experimental, between our own words. */
function builtInDriver(): SqliteModule | undefined {
  const emitWarning = process.emitWarning.bind(process);
  process.emitWarning = () => undefined;
  try {
    return process.getBuiltinModule("node:sqlite") as SqliteModule | undefined;
  } finally {
    process.emitWarning = emitWarning;
  }
}

/** All or nothing. What SQLite rolled back by itself (a full disk) cannot be rolled back again. */
export function transaction<T>(database: Database, write: () => T): T {
  database.exec("BEGIN IMMEDIATE");
  try {
    const value = write();
    database.exec("COMMIT");
    return value;
  } catch (error) {
    try {
      database.exec("ROLLBACK");
    } catch {
      // It is rolled back already; the first error is the one that tells.
    }
    throw error;
  }
}

/** A transaction that a power cut may undo: it becomes durable with the next one that syncs. */
export function unsynced<T>(database: Database, write: () => T): T {
  database.exec("PRAGMA synchronous = NORMAL");
  try {
    return transaction(database, write);
  } finally {
    database.exec("PRAGMA synchronous = FULL");
  }
}

/** Below this the disk counts as full: SQLite hides the reason behind some of its I/O errors. */
const FULL_BELOW_BYTES = 64 << 10;

/** What SQLite says of a damaged file, also where its driver loses the number of the error. */
const MALFORMED = "database disk image is malformed";

const CODES_OF_SQLITE: ReadonlyMap<number, ErrorCode> = new Map([
  [5, "LOCKED"],
  [6, "LOCKED"],
  [8, "STORAGE_READ_ONLY"],
  [11, "STORAGE_CORRUPT"],
  [13, "STORAGE_FULL"],
  [26, "STORAGE_CORRUPT"],
]);

const CODES_OF_SYSTEM: ReadonlyMap<string, ErrorCode> = new Map([
  ["EROFS", "STORAGE_READ_ONLY"],
  ["EACCES", "STORAGE_READ_ONLY"],
  ["EPERM", "STORAGE_READ_ONLY"],
  ["ENOSPC", "STORAGE_FULL"],
  ["EDQUOT", "STORAGE_FULL"],
]);

const ADVICE: Partial<Record<ErrorCode, string>> = {
  LOCKED: "is in use by another process",
  STORAGE_READ_ONLY: "cannot be written: check the mount and the owner of the file and its folder",
  STORAGE_CORRUPT:
    "is damaged: restore it from a backup (rollcall restore), or move it away to start empty",
  STORAGE_FULL: "has no room left: nothing was written; free some and it goes on",
};

export function storageError(error: unknown, path: string): RollcallError {
  if (error instanceof RollcallError) return error;
  const code = storageCode(error, path);
  const reason = error instanceof Error ? error.message : String(error);
  const advice = ADVICE[code] ?? "failed";
  return new RollcallError(code, `${path} ${advice} (${reason})`, { cause: error });
}

function storageCode(error: unknown, path: string): ErrorCode {
  if (!(error instanceof Error)) return "INTERNAL";
  if (error.message.includes(MALFORMED)) return "STORAGE_CORRUPT";
  if ("errcode" in error && typeof error.errcode === "number") {
    const code = CODES_OF_SQLITE.get(error.errcode & 0xff);
    return code ?? (isFull(path) ? "STORAGE_FULL" : "UNAVAILABLE");
  }
  if (!("syscall" in error && "code" in error)) return "INTERNAL";
  return CODES_OF_SYSTEM.get(String(error.code)) ?? "UNAVAILABLE";
}

function isFull(path: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(dirname(path));
    return bavail * bsize < FULL_BELOW_BYTES;
  } catch {
    return false;
  }
}

export function corrupt(what: string, reason: string): RollcallError {
  return new RollcallError("STORAGE_CORRUPT", `${what} ${ADVICE.STORAGE_CORRUPT} (${reason})`);
}
