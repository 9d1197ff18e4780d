/**
 * Opening: whatever could have been lost or damaged since the last time is looked for before
 * anything is believed, by the writer and by readers.
 *
 *   witness, write-ahead log ──▶ lock, schema, pages ──▶ rows ──▶ the head that was acknowledged
 *
 * The write-ahead log comes before SQLite sees it, which would drop what it cannot read of it. Then
 * a writer may be at work, and what is read of a file that is being written fits nothing: what is
 * wrong is damage if it is the same at a second look, and the work of a writer if it is not.
 *
 * The pages of a large file are checked by a thread of its own, while the state is read from it
 * (see session.ts).
 */
import { statSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { RollcallError } from "../../core/errors.ts";
import { checkPages, isCheckedBeside, isThorough } from "./check.ts";
import { openDatabase, openForReading } from "./database.ts";
import { corrupt, storageError, type Database } from "./driver.ts";
import { Place } from "./place.ts";
import { isEmpty } from "./schema.ts";
import { lost, Tables } from "./tables.ts";
import { readWal, type WalContent } from "./wal.ts";
import { checkWal, readWitness, HeadWitness, writeFloor } from "./witness.ts";
import type { Testimony, WitnessedHead } from "./witness.ts";

/** A writer needs longer for a commit only when the disk is slow, and then the file is at rest. */
const LOOK_AGAIN_MS = 20;
/** A file that differs at every one of so many looks has a writer. */
const LOOKS = 10;

export interface OpenedTables {
  readonly tables: Tables;
  /** Given where something may have been lost: no token and no term from before is above it. */
  readonly floor: number | undefined;
  /** Whether the pages are left to be checked by another thread. */
  readonly isUnchecked: boolean;
}

export async function openTables(path: string, writtenBy: string): Promise<OpenedTables> {
  const { bytes, wal, testimony } = await lookAt(path);
  if (bytes === undefined && testimony) writeFloor(path, testimony.floor);
  const database = await openDatabase(path);
  try {
    const isUnchecked = isCheckedBeside(database, path);
    if (!isUnchecked) checkPages(database, path);
    const witness = new HeadWitness(path, readWitness(path));
    const place = new Place(path);
    const tables = new Tables(database, { path, writtenBy, witness, place });
    if (bytes !== undefined && testimony?.head) tables.checkWitnessed(testimony.head);
    if (isThorough({ bytes: bytes ?? 0, closedWell: !wal.hasFrames })) tables.verify();
    return { tables, floor: witness.owed, isUnchecked };
  } catch (error) {
    database.close();
    throw storageError(error, path);
  }
}

/** Checks the pages beside the writer. */
export async function checkBeside(path: string): Promise<void> {
  const database = await openForReading(path);
  try {
    checkPages(database, path);
  } finally {
    database.close();
  }
}

export interface OpenedReader {
  readonly database: Database;
  /** The head that was acknowledged before it was opened. */
  readonly head: WitnessedHead | undefined;
}

export async function openReader(path: string): Promise<OpenedReader> {
  const { testimony } = await lookAt(path);
  const database = await openForReading(path);
  const head = testimony?.head;
  if (!isEmpty(database)) return { database, head };
  database.close();
  if (head && head.head > 0) throw lost(path, 0, head);
  throw new RollcallError("NOT_FOUND", `${path}: there is nothing in it yet`);
}

interface Files {
  readonly bytes: number | undefined;
  readonly wal: WalContent;
  readonly testimony: Testimony | undefined;
}

async function lookAt(path: string): Promise<Files> {
  for (let look = 1, before = ""; ; look += 1) {
    const testimony = readWitness(path);
    const files = { testimony, wal: readWal(`${path}-wal`), bytes: fileBytes(path) };
    try {
      checkFiles(path, files);
      return files;
    } catch (error) {
      const now = JSON.stringify(files);
      if (now === before) throw error;
      if (look === LOOKS) return files;
      before = now;
    }
    await delay(LOOK_AGAIN_MS);
  }
}

function checkFiles(path: string, { bytes, wal, testimony }: Files): void {
  const head = testimony?.head;
  if (bytes === undefined && wal.hasFrames) {
    const left = `${path}-wal is there without it: put it back, or move that away, too`;
    throw corrupt(path, `it is missing, but ${left}`);
  }
  if (bytes === 0 && ((head?.head ?? 0) > 0 || wal.hasFrames)) {
    throw corrupt(path, `it is empty, but ${head?.head ?? "some"} events were in it`);
  }
  if (bytes !== undefined) checkWal(path, wal, head);
}

function fileBytes(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.size;
}
