/**
 * The open database as its thread sees it: the log's table, the snapshots and the streams, and the
 * commit that may write to all of them at once.
 */
import type { RollcallError } from "../../core/errors.ts";
import { fenced } from "../entries.ts";
import type { LogRange } from "../log.ts";
import { Batches, type Chain } from "./batches.ts";
import { readEnds } from "./check.ts";
import { checkSum, extended, withIds, type CheckedFile } from "./checksum.ts";
import { BLOB, corrupt, transaction, unsynced, type Database } from "./driver.ts";
import type { Place } from "./place.ts";
import type {
  Append,
  AppendOutcome,
  AppendPlace,
  Commit,
  CommitResult,
  LogPage,
  OpenedRange,
  Span,
} from "./protocol.ts";
import {
  claimFile,
  isRaised,
  lastWriter,
  logIdOf,
  markMoved,
  readUnchecked,
  setMeta,
  truncatedId,
} from "./schema.ts";
import { SnapshotTable } from "./snapshots.ts";
import { StreamTables } from "./stream-tables.ts";
import { UNSYNCED_COMMITS, type HeadWitness, type WitnessedHead } from "./witness.ts";

const INSERT = `
  INSERT INTO log (last, first, entries, checksum, id, previous) VALUES (?, ?, ${BLOB}, ?, ?, ?)`;
/** Between two looks at whether the file is still at its path. */
const PLACE_MS = 1000;

export interface TablesOptions {
  readonly path: string;
  readonly writtenBy: string;
  /** Absent for readers. */
  readonly witness?: HeadWitness;
  readonly place?: Place;
}

/** The end of the log, and where it begins. */
interface TableEnds {
  readonly truncated: number;
  /** The checksum of what was truncated. */
  readonly base: number;
  readonly head: number;
  /** The checksum up to the head, and the append that wrote it. */
  readonly running: number;
  readonly id: string;
}

export class Tables {
  readonly snapshots: SnapshotTable;
  readonly streams: StreamTables;
  readonly #database: Database;
  readonly #writtenBy: string;
  readonly #file: CheckedFile;
  readonly #witness: HeadWitness | undefined;
  readonly #place: Place | undefined;
  readonly #batches: Batches;
  #ends: TableEnds;
  /** Whether this program has written to the file since it was opened. */
  #isClaimed = false;
  #lookedAtMs = performance.now();
  #sweeps = 0;

  constructor(database: Database, { path, writtenBy, witness, place }: TablesOptions) {
    this.#database = database;
    this.#writtenBy = writtenBy;
    this.#witness = witness;
    this.#place = place;
    this.#file = { path, unchecked: readUnchecked(database) };
    this.#batches = new Batches(database, this.#file, "log");
    this.snapshots = new SnapshotTable(database, this.#file);
    this.streams = new StreamTables(database, this.#file);
    this.#ends = this.#readEnds();
  }

  #readEnds(): TableEnds {
    const { truncated, base, head } = readEnds(this.#database);
    const running = this.#batches.checksumAt(logChain(base), Infinity);
    const id = this.#batches.newest([])?.id ?? truncatedId(this.#database);
    return { truncated, base, head, running, id };
  }

  opened(): OpenedRange {
    return { ...this.range(), lastWriter: lastWriter(this.#database) };
  }

  range(): LogRange {
    const { head, truncated, id: lastId } = this.#ends;
    return { head, mark: head, oldest: truncated + 1, logId: this.logId, lastId };
  }

  /**
   * An append that is fenced holds back nothing else of the commit. Even one that writes nothing
   * finds out whether the file is still there: that is the sign of life of a leader.
   */
  commit(commit: Commit): CommitResult {
    this.#checkPlace();
    this.#witness?.reserve(commit.appends.reduce((most, { fence }) => Math.max(most, fence), 0));
    const write = () => {
      const outcomes = commit.appends.map((append) => this.#append(append));
      const left = commit.forgets.filter((forget) => this.streams.forget(forget));
      return { outcomes, isUnswept: left.length > 0 };
    };
    const statements = countStatements(commit);
    if (statements === 0) return write();
    try {
      const isAlone = statements === 1 && this.#isClaimed;
      const result = isAlone ? write() : this.#inTransaction(write);
      this.witnessed(writtenFence(commit, result));
      return result;
    } catch (error) {
      this.streams.forgetCache();
      this.#file.unchecked = readUnchecked(this.#database);
      this.#ends = this.#readEnds();
      throw error;
    }
  }

  #inTransaction<T>(write: () => T): T {
    const result = transaction(this.#database, () => {
      this.#claim();
      return write();
    });
    this.#isClaimed = true;
    return result;
  }

  #claim(): void {
    if (this.#isClaimed) return;
    claimFile(this.#database, this.#writtenBy);
    this.#file.unchecked = readUnchecked(this.#database);
  }

  #checkPlace(): void {
    const nowMs = performance.now();
    if (nowMs - this.#lookedAtMs < PLACE_MS) return;
    this.#place?.check();
    this.#lookedAtMs = nowMs;
  }

  /** After each write that was synced, before it is acknowledged. */
  witnessed(fence = 0): void {
    this.#witness?.saw(this.#ends.head, this.#ends.running, fence);
  }

  #append({ text, count, at, streams }: Append): AppendOutcome {
    const { truncated, base, head, running, id: previous } = this.#ends;
    const isMoved = at !== undefined && at.head !== head;
    if (isMoved && this.#isWritten(at)) return { heads: [] };
    const refusal = isMoved ? fenced("the log", head, at.head) : this.streams.fenceOf(streams);
    if (refusal) return { fenced: refusal.message, heads: [] };
    if (count > 0) {
      const last = head + count;
      const bytes = Buffer.from(text);
      const id = at?.id ?? "";
      const sum = extended(running, bytes);
      const checksum = withIds(sum, { id, previous });
      this.#database.prepare(INSERT).run(last, head + 1, bytes, checksum, id, previous);
      this.#ends = { truncated, base, head: last, running: sum, id };
    }
    const heads = this.streams.append(streams);
    return { heads: at === undefined ? heads : [] };
  }

  /** An append that is called again: the one that followed that head has its id. */
  #isWritten({ head, id }: AppendPlace): boolean {
    const next = this.#batches.holding([], head + 1);
    return next?.first === head + 1 && next.id === id;
  }

  read(span: Span): LogPage | undefined {
    const page = this.#batches.read(logChain(this.#ends.base), span);
    if (!page) return undefined;
    return { ...page, id: this.idAt(page.last) ?? "", previous: this.idAt(span.after) ?? "" };
  }

  idAt(sequence: number): string | undefined {
    if (sequence > this.#ends.head) return undefined;
    if (sequence === this.#ends.head) return this.#ends.id;
    const batch = this.#batches.holding([], sequence);
    // Rows may be older than ids.
    return (batch && batch.first > sequence ? batch.previous : batch?.id) ?? "";
  }

  beginSnapshot(sequence: number): number {
    return this.#isClaimed
      ? this.snapshots.begin(sequence)
      : this.#inTransaction(() => this.snapshots.begin(sequence));
  }

  finishSnapshot(id: number): void {
    this.snapshots.finish(id, this.#ends);
  }

  truncate(through: number): void {
    if (through <= this.#ends.truncated) return;
    this.snapshots.checkOneAtOrAfter(through);
    const base = this.#batches.checksumAt(logChain(this.#ends.base), through);
    this.#inTransaction(() => {
      setMeta(this.#database, "truncated", through);
      setMeta(this.#database, "base", base);
      setMeta(this.#database, "truncated_id", this.idAt(through) ?? "");
      this.snapshots.dropBefore(through);
    });
    this.#ends = { ...this.#ends, truncated: through, base };
  }

  /** Needs no sync of its own: what a power cut brings back is swept again. */
  sweep(): boolean {
    if (!isRaised(this.#database)) return false;
    const write = () =>
      this.#batches.delete([], this.#ends.truncated) > 0 ||
      this.snapshots.sweep() ||
      this.streams.sweep();
    this.#sweeps += 1;
    const isSynced = this.#sweeps % UNSYNCED_COMMITS === 0;
    return isSynced ? transaction(this.#database, write) : unsynced(this.#database, write);
  }

  /** Reads everything, which checks it. */
  verify(): LogRange {
    const { base, truncated: after, head: through } = this.#ends;
    for (const _ of this.#batches.all(logChain(base), { after, through }));
    this.snapshots.verify();
    this.streams.verify();
    return this.range();
  }

  get logId(): string {
    return logIdOf(this.#database);
  }

  markMoved(to: string): void {
    this.#inTransaction(() => markMoved(this.#database, to));
  }

  compact(): void {
    this.#inTransaction(() => undefined);
    this.#database.exec("VACUUM");
  }

  /** Whether the log holds what a witness saw. */
  checkWitnessed(witnessed: WitnessedHead): void {
    const { head, checksum } = witnessed;
    const { truncated, base, head: end } = this.#ends;
    const { path } = this.#file;
    if (end < head) throw lost(path, end, witnessed);
    if (head <= truncated) return;
    const found = this.#batches.checksumAt(logChain(base), head);
    checkSum({ path, what: `entry ${head} of the log`, expected: checksum, found });
  }

  /** Moves the write-ahead log into the file, which tells the next one that all is well. */
  close(): void {
    if (this.#witness) moveWal(this.#database);
    this.#database.close();
    const { head, running: checksum } = this.#ends;
    // A file that was moved has no say in what is at its path now.
    const isKept = this.#place?.isKept() ?? true;
    this.#witness?.close(isKept ? { head, checksum } : undefined);
  }
}

export function lost(path: string, end: number, { head }: WitnessedHead): RollcallError {
  return corrupt(path, `the log ends at ${end}, but ${head} was acknowledged`);
}

/** In Node 20 SQLite itself closes the file only when the thread ends: later than the witness. */
function moveWal(database: Database): void {
  try {
    database.exec("PRAGMA busy_timeout = 0; PRAGMA wal_checkpoint(TRUNCATE)");
  } catch {
    // A reader has it, or the disk is full: the next one that opens the file finds it there.
  }
}

function logChain(start: number): Chain {
  return { scope: [], what: "the log", start };
}

/** The highest fence of the appends to the log that were not refused. */
function writtenFence({ appends }: Commit, { outcomes }: CommitResult): number {
  const isWritten = ({ count }: Append, index: number) => count > 0 && !outcomes[index]?.fenced;
  return appends.filter(isWritten).reduce((most, { fence }) => Math.max(most, fence), 0);
}

/** A single statement is a transaction by itself. */
function countStatements({ appends, forgets }: Commit): number {
  let count = 2 * forgets.length;
  for (const append of appends) {
    count += Math.min(1, append.count) + 2 * append.streams.names.length;
  }
  return count;
}
