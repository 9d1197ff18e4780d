/** Whether what is in the database can have been written by us: no gap, no loss, nothing half. */
import { statSync } from "node:fs";
import { corrupt, type Database } from "./driver.ts";

/** The rows of so much are checked in some milliseconds, and always. */
const SMALL_BYTES = 8 << 20;
/** After a crash those of so much are, in seconds; more of it is left to the reads. */
const CHECKABLE_BYTES = 256 << 20;
/** How many batches at the end of the log are looked at in any case. */
const TAIL_BATCHES = 1000;

export interface CheckOptions {
  readonly path: string;
  readonly bytes: number;
  readonly closedWell: boolean;
}

/** Whether every row is checked at the opening. */
export function isThorough({ bytes, closedWell }: Omit<CheckOptions, "path">): boolean {
  return bytes <= (closedWell ? SMALL_BYTES : CHECKABLE_BYTES);
}

/** Whether a thread that checks its pages is worth its start. */
export function isLarge(path: string): boolean {
  return (statSync(path, { throwIfNoEntry: false })?.size ?? 0) > SMALL_BYTES;
}

/** Whether another thread checks the pages, by a connection of its own, beside the first reads. */
export function isCheckedBeside(database: Database, path: string): boolean {
  const mode = database.prepare<{ locking_mode: string }>("PRAGMA locking_mode").get();
  return isLarge(path) && mode?.locking_mode === "normal";
}

export function checkDatabase(database: Database, options: CheckOptions): void {
  const { path } = options;
  checkLog(database, path, isThorough(options) ? -1 : TAIL_BATCHES);
  checkSnapshots(database, path);
}

/**
 * The pages, and that each index has what its table has: nothing that is read tells of an index
 * that leaves out a row. A GiB takes a third of a second of processor time.
 */
export function checkPages(database: Database, path: string): void {
  const row = database.prepare<{ integrity_check: string }>("PRAGMA integrity_check(1)").get();
  const found = row?.integrity_check ?? "integrity_check fails";
  if (found !== "ok") throw corrupt(path, found.replaceAll("\n", " "));
}

function checkLog(database: Database, path: string, batches: number): void {
  const { truncated, head } = readEnds(database);
  const oldest = database
    .prepare<{ first: number }>("SELECT first FROM log ORDER BY last LIMIT 1")
    .get();
  if (oldest && oldest.first > truncated + 1) {
    throw corrupt(path, `entries ${truncated + 1} to ${oldest.first - 1} are missing`);
  }
  if (head < truncated) throw corrupt(path, `the log ends at ${head} but began after ${truncated}`);
  const tail = "(SELECT first, last FROM log ORDER BY last DESC LIMIT ?)";
  const counted = database
    .prepare<{ missing: number }>(
      `SELECT max(last) - min(first) + 1 - sum(last - first + 1) AS missing FROM ${tail}`,
    )
    .get(batches);
  if (counted?.missing) throw corrupt(path, findGap(database, tail, batches));
  checkLastBatch(database, path);
}

/** Six times as slow as counting, so only once it is known that there is one. */
function findGap(database: Database, tail: string, batches: number): string {
  const gap = database
    .prepare<{ first: number; before: number }>(
      `SELECT first, before
       FROM (SELECT first, lag(last) OVER (ORDER BY last) AS before FROM ${tail})
       WHERE first <> before + 1 LIMIT 1`,
    )
    .get(batches);
  return `entry ${gap?.first} follows entry ${gap?.before}`;
}

function checkLastBatch(database: Database, path: string): void {
  const batch = database
    .prepare<{ first: number; last: number; entries: Uint8Array }>(
      "SELECT first, last, entries FROM log ORDER BY last DESC LIMIT 1",
    )
    .get();
  if (!batch) return;
  const count = Buffer.from(batch.entries).toString("latin1").split("\n").length;
  if (count === batch.last - batch.first + 1) return;
  throw corrupt(path, `entries ${batch.first} to ${batch.last} are ${count}`);
}

function checkSnapshots(database: Database, path: string): void {
  const { truncated, head } = readEnds(database);
  const sql = "SELECT max(sequence) AS newest FROM snapshot WHERE is_complete";
  const newest = database.prepare<{ newest: number | null }>(sql).get()?.newest ?? 0;
  if (newest > head) {
    throw corrupt(path, `a snapshot stands at ${newest} but the log ends at ${head}`);
  }
  if (newest < truncated) {
    throw corrupt(path, `the log begins after ${truncated} and no snapshot reaches that far`);
  }
}

export interface LogEnds {
  readonly truncated: number;
  readonly base: number;
  readonly head: number;
}

export function readEnds(database: Database): LogEnds {
  const row = database
    .prepare<{ truncated: number; base: number | null; last: number | null }>(
      `SELECT (SELECT value FROM meta WHERE name = 'truncated') AS truncated,
              (SELECT value FROM meta WHERE name = 'base') AS base,
              (SELECT max(last) FROM log) AS last`,
    )
    .get();
  const { truncated = 0, base, last } = row ?? {};
  return { truncated, base: base ?? 0, head: last ?? truncated };
}
