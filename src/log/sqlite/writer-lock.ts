/**
 * One writer at a time, and readers beside it.
 *
 *   another is there ── refused ◀── opens ──▶ alone with the file ──▶ shares it with readers
 *
 * Every connection to a file with a write-ahead log has a shared lock on the file itself, from its
 * first look until it is closed. So a writer that begins asks once for the exclusive lock: it gets
 * it only if nobody else has the file open, and keeps the shared one without a gap. That is the
 * proof. It lies on the file, not on a name of it: a link, another path or a new name gives no
 * second writer. It ends with its process, however that ends. And a program of before, which keeps
 * the exclusive lock, and a program of today keep each other out.
 *
 * A reader keeps a writer from beginning, too, so a writer waits a little for readers to go.
 *
 * Readers find what is new by an index that they share with the writer as memory. Where it cannot
 * be made (a full disk, a disk on the network) the writer keeps the file for itself.
 */
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { codeOf, RollcallError } from "../../core/errors.ts";
import { connect, storageError, type Database } from "./driver.ts";
import { refuseForeign } from "./schema.ts";

/** For readers to go. Of two writers that begin at once, chance lets one give up first. */
const WAIT_MS = { least: 200, most: 1000 };
/** How long a commit waits for an operator who writes to the file by hand. */
const BUSY_MS = 5000;

/** Opens a file of ours, or an empty one, as its only writer. */
export async function lockForWriting(path: string): Promise<Database> {
  try {
    return await lockedAs("NORMAL", path);
  } catch (error) {
    const { code } = storageError(error, path);
    if (code === "UNAVAILABLE" || code === "STORAGE_FULL") return lockedAs("EXCLUSIVE", path);
    throw error;
  }
}

async function lockedAs(mode: "NORMAL" | "EXCLUSIVE", path: string): Promise<Database> {
  const database = await connect(path);
  try {
    database.exec(`PRAGMA busy_timeout = ${waitMs(path)}; PRAGMA locking_mode = ${mode}`);
    refuseForeign(database, path);
    // The look between makes the index, which has to be there before the lock is exclusive.
    database.exec(`
      PRAGMA journal_mode = WAL; BEGIN; SELECT 1 FROM sqlite_schema; COMMIT;
      PRAGMA locking_mode = EXCLUSIVE; BEGIN IMMEDIATE; COMMIT;
      PRAGMA locking_mode = ${mode}; BEGIN IMMEDIATE; COMMIT;
      PRAGMA busy_timeout = ${BUSY_MS};
    `);
    return database;
  } catch (error) {
    database.close();
    throw lockedError(path, error);
  }
}

function waitMs(path: string): number {
  if (readHolder(path)) return 0;
  return Math.round(WAIT_MS.least + Math.random() * (WAIT_MS.most - WAIT_MS.least));
}

interface Holder {
  readonly pid: number;
  readonly host: string;
}

/** Names the writer, for the refusal of a second one. A name without the lock blocks no one. */
export function nameHolder(path: string): void {
  const holder = { pid: process.pid, host: hostname(), since: new Date().toISOString() };
  try {
    writeFileSync(nameFile(path), `${JSON.stringify(holder)}\n`, { mode: 0o600 });
  } catch {
    // A full disk: the store can be read all the same.
  }
}

export function forgetHolder(path: string): void {
  rmSync(nameFile(path), { force: true });
}

/** Says who has the file, if it is that; else the error as it is. */
export function lockedError(path: string, error: unknown): unknown {
  if (codeOf(storageError(error, path)) !== "LOCKED") return error;
  const holder = holderOf(path) ?? "another process";
  const message = `${path} is in use by ${holder}: stop it first, or use another path`;
  return new RollcallError("LOCKED", message, { cause: error });
}

/** The writer, in words, as far as is known without its lock. */
export function holderOf(path: string): string | undefined {
  const holder = readHolder(path);
  return holder && `process ${holder.pid} on ${holder.host}`;
}

function readHolder(path: string): Holder | undefined {
  try {
    const holder = JSON.parse(readFileSync(nameFile(path), "utf8")) as Holder;
    return holder.host === hostname() && !isAlive(holder.pid) ? undefined : holder;
  } catch {
    // The holder has not written it yet, or is no rollcall.
    return undefined;
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}

function nameFile(path: string): string {
  return `${path}.lock`;
}
