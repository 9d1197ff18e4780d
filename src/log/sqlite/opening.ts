/**
 * Opening for writing: whatever could have been lost or damaged since the last time is looked for
 * before anything is believed.
 *
 *   witness, write-ahead log ──▶ lock, schema, pages ──▶ rows ──▶ the head that was acknowledged
 *
 * The write-ahead log comes before SQLite sees it, which would drop what it cannot read of it.
 */
import { statSync } from "node:fs";
import { checkWal, readWitness, Witness, type Testimony } from "./witness.ts";
import { isThorough } from "./check.ts";
import { openDatabase } from "./database.ts";
import { corrupt, storageError } from "./driver.ts";
import { Place } from "./place.ts";
import { Tables } from "./tables.ts";
import { readWal, type WalContent } from "./wal.ts";

export interface OpenedTables {
  readonly tables: Tables;
  /** Given where something may have been lost: no token and no term from before is above it. */
  readonly floor: number | undefined;
}

export async function openTables(path: string, writtenBy: string): Promise<OpenedTables> {
  const testimony = readWitness(path);
  const wal = readWal(`${path}-wal`);
  const bytes = fileBytes(path);
  if (bytes !== undefined) checkBefore(path, wal, { bytes, testimony });
  const database = await openDatabase(path);
  try {
    const witness = new Witness(path);
    const place = new Place(path);
    const tables = new Tables(database, { path, writtenBy, witness, place });
    const head = bytes === undefined ? undefined : testimony?.head;
    if (head) tables.checkWitnessed(head);
    if (isThorough({ bytes: bytes ?? 0, closedWell: !wal.hasFrames })) tables.verify();
    return { tables, floor: head ? undefined : testimony?.floor };
  } catch (error) {
    database.close();
    throw storageError(error, path);
  }
}

function checkBefore(
  path: string,
  wal: WalContent,
  { bytes, testimony }: { readonly bytes: number; readonly testimony: Testimony | undefined },
): void {
  const head = testimony?.head;
  if (bytes === 0 && ((head?.head ?? 0) > 0 || wal.hasFrames)) {
    throw corrupt(path, `it is empty, but ${head?.head ?? "some"} events were in it`);
  }
  checkWal(path, wal, head);
}

function fileBytes(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.size;
}
