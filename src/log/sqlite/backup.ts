/**
 * A backup: a copy of the database, as it was at one moment, and a last line that describes it.
 *
 *   a database of SQLite │ {"rollcall":"backup", "logId", "head", "madeAtMs", "floor", …}
 *
 * The line has the length and the SHA-256 of the copy, and a checksum of its own. What was copied
 * is read and checked before the backup gets its name: damage does not get into a backup.
 */
import { createHash } from "node:crypto";
import * as fs from "node:fs";
import { crc32 } from "node:zlib";
import { RollcallError } from "../../core/errors.ts";
import { checkPages } from "./check.ts";
import { openForReading } from "./database.ts";
import { storageError, type Database } from "./driver.ts";
import { syncFolder } from "./place.ts";
import type { BackupRequest } from "./protocol.ts";
import { Tables } from "./tables.ts";

const LINE = 512;
const PIECE = 1 << 20;

export interface BackupFacts {
  readonly rollcall: "backup";
  readonly version: 1;
  readonly logId: string;
  readonly head: number;
  readonly madeAtMs: number;
  readonly madeBy: string;
  /** No token and no term that was handed out before is above it. */
  readonly floor: number;
  /** Of the copy. */
  readonly bytes: number;
  readonly sha256: string;
}

type BackupDescription = Omit<BackupFacts, "rollcall" | "version" | "bytes" | "sha256">;

/** Under this name it is being made. */
export function partOf(target: string): string {
  return `${target}.part`;
}

/** Of what is committed now, while the writer goes on. */
export async function makeBackup(path: string, request: BackupRequest): Promise<BackupFacts> {
  const { target, ...described } = request;
  await using(path, (database) => {
    // Pages that hold nothing are not copied, but a start would refuse them.
    checkPages(database, path);
    copyInto(database, target);
  });
  const part = partOf(target);
  const found = await using(part, (database) => {
    // SQLite copies an index as it is, also one that leaves out a row. What is wrong is so there.
    checkPages(database, path);
    const copied = new Tables(database, { path, writtenBy: "" });
    return { head: copied.verify().head, logId: copied.logId };
  });
  return finish(target, { ...found, ...described });
}

async function using<T>(path: string, use: (database: Database) => T): Promise<T> {
  const database = await openForReading(path);
  try {
    return use(database);
  } finally {
    database.close();
  }
}

function copyInto(database: Database, target: string): void {
  if (fs.existsSync(target)) {
    throw new RollcallError("ALREADY_EXISTS", `${target} is there already: choose another name`);
  }
  const part = partOf(target);
  fs.rmSync(part, { force: true });
  try {
    // Made first, so that it is never readable by others.
    fs.closeSync(fs.openSync(part, "wx", 0o600));
    database.exec("PRAGMA query_only = OFF");
    database.prepare("VACUUM INTO ?").run(part);
  } catch (error) {
    fs.rmSync(part, { force: true });
    throw storageError(error, target);
  }
}

/** Describes the copy that was made, syncs it and gives it its name. */
function finish(target: string, described: BackupDescription): BackupFacts {
  const part = partOf(target);
  const bytes = fs.statSync(part).size;
  const sha256 = digestOf(part, bytes);
  const facts: BackupFacts = { rollcall: "backup", version: 1, ...described, bytes, sha256 };
  const text = JSON.stringify(facts);
  const file = fs.openSync(part, "a");
  try {
    fs.writeSync(file, `${text.padEnd(LINE - 10)} ${checksumOf(text)}\n`);
    fs.fsyncSync(file);
  } finally {
    fs.closeSync(file);
  }
  fs.renameSync(part, target);
  syncFolder(target);
  return facts;
}

/** The line of a backup whose copy is what it describes. */
export function readBackup(path: string): BackupFacts {
  const facts = readLine(path);
  if (digestOf(path, facts.bytes) !== facts.sha256) {
    throw unusable(path, "its content does not have the digest that it was made with");
  }
  return facts;
}

function readLine(path: string): BackupFacts {
  const size = fs.statSync(path, { throwIfNoEntry: false })?.size;
  if (size === undefined) throw new RollcallError("NOT_FOUND", `${path}: there is no such file`);
  const line = Buffer.alloc(Math.min(LINE, size));
  const file = fs.openSync(path, "r");
  fs.readSync(file, line, 0, line.length, size - line.length);
  fs.closeSync(file);
  const text = line.subarray(0, -10).toString("latin1").trimEnd();
  const isWhole = line.subarray(-9, -1).toString("latin1") === checksumOf(text);
  const facts = isWhole ? (JSON.parse(text) as BackupFacts) : undefined;
  if (facts?.rollcall !== "backup" || facts.bytes !== size - LINE) {
    throw unusable(path, "it is no backup of rollcall, or its last line is damaged");
  }
  return facts;
}

function unusable(path: string, reason: string): RollcallError {
  const message = `${path} cannot be restored: ${reason}; use another backup`;
  return new RollcallError("STORAGE_CORRUPT", message);
}

/** Puts the database of a backup at a path, for this user alone. */
export function extract({ bytes }: BackupFacts, path: string, target: string): void {
  const piece = Buffer.alloc(PIECE);
  const [from, to] = [fs.openSync(path, "r"), fs.openSync(target, "wx", 0o600)];
  try {
    for (let at = 0; at < bytes;) {
      const read = fs.readSync(from, piece, 0, Math.min(PIECE, bytes - at), at);
      fs.writeSync(to, piece, 0, read);
      at += read;
    }
    fs.fsyncSync(to);
  } finally {
    fs.closeSync(from);
    fs.closeSync(to);
  }
}

function digestOf(path: string, bytes: number): string {
  const hash = createHash("sha256");
  const piece = Buffer.alloc(PIECE);
  const file = fs.openSync(path, "r");
  try {
    for (let at = 0; at < bytes;) {
      const read = fs.readSync(file, piece, 0, Math.min(PIECE, bytes - at), at);
      if (read === 0) break;
      hash.update(piece.subarray(0, read));
      at += read;
    }
    return hash.digest("hex");
  } finally {
    fs.closeSync(file);
  }
}

function checksumOf(text: string): string {
  return crc32(text).toString(16).padStart(8, "0");
}
