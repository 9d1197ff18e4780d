/**
 * SQLite itself: built into Node from 22.13, and for Node 20 the same interface as a package that
 * brings its binary along. Which one is found out when the database is opened.
 */
import { RollcallError } from "../../core/errors.ts";

export type SqlValue = number | string | Uint8Array | null;

export interface Statement<Row> {
  run(...values: SqlValue[]): { readonly changes: number; readonly lastInsertRowid: number };
  get(...values: SqlValue[]): Row | undefined;
  all(...values: SqlValue[]): Row[];
}

export interface Database {
  exec(sql: string): void;
  /** `Row` is what the SQL gives; whoever writes the one writes the other. */
  prepare<Row = unknown>(sql: string): Statement<Row>;
  close(): void;
}

/** A blob as a parameter: Node 22 takes an empty one for NULL. */
export const BLOB = "ifnull(?, x'')";

interface Driver {
  readonly DatabaseSync: new (path: string) => Database;
}

const DRIVERS = ["node:sqlite", "@photostructure/sqlite"];

export async function connect(path: string): Promise<Database> {
  const { DatabaseSync } = await loadDriver();
  return new DatabaseSync(path);
}

async function loadDriver(): Promise<Driver> {
  const failures: unknown[] = [];
  for (const name of DRIVERS) {
    try {
      return (await import(name)) as Driver;
    } catch (error) {
      failures.push(error);
    }
  }
  throw new RollcallError(
    "UNIMPLEMENTED",
    "there is no SQLite here: use Node 22.13 or newer, or npm install @photostructure/sqlite",
    { cause: new AggregateError(failures) },
  );
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
