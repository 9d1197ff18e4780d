/**
 * The mirror of a shared log: a file of SQLite on this machine, from which a member starts and
 * replays without asking the shared store for more than the end. It is written behind, by whatever
 * this member appends or follows, and it is never a second truth:
 *
 *   no file ──begin──▶ filling ──▶ a mirror ──▶ … follows the log, with a snapshot now and then
 *      ▲                 │            │
 *      └────discarded────┴────────────┘ of another log, not on its chain, too old, damaged
 *
 * Whenever the log is opened the mirror must fit it: its last entry must stand there, by the same
 * append; ids chain the entries before. Where it does not, it is discarded and made anew, beside
 * everything else. Where it cannot be written (a full disk) the member goes on without it.
 *
 * One that has what the log has not may be all that is left of it: it is put aside, and
 * `rollcall restore --from-mirror` reads it.
 */
import { codeOf } from "../../core/errors.ts";
import { padding } from "../copy.ts";
import type { Log, LogBatch, LogMirror, LogRange, Snapshot, StoredSnapshot } from "../log.ts";
import { waited } from "../retry.ts";
import { sqliteStore } from "../sqlite/store.ts";
import { moveFile, removeAll } from "../sqlite/upkeep.ts";
import type { Store } from "../store.ts";
import { MIRROR } from "./limits.ts";
import { Waiting, type MirroredBatch } from "./waiting.ts";

export interface MirrorOptions {
  /** The shared log. */
  readonly from: Log;
  readonly path: string;
  readonly writtenBy: string;
  readonly onWarning: (message: string) => void;
}

/** A stream of the file whose only entry is the id of the log: there once the mirror has begun. */
const LOG_ID = "mirror of";

interface OpenMirror {
  readonly store: Store;
  /** What it holds: nothing before it has begun. */
  readonly oldest: number;
  readonly head: number;
  readonly lastId: string;
  readonly logId: string;
}

export class Mirror implements LogMirror {
  readonly #options: MirrorOptions;
  readonly #closing = new AbortController();
  readonly #waiting = new Waiting();
  readonly #reached = new Set<{ readonly sequence: number; readonly settle: () => void }>();
  #mirror: OpenMirror | undefined;
  /** Whether it was found to be of the log as it is now. */
  #fits = false;
  /** Where the file cannot be used: for good. */
  #isOff = false;
  #logId = "";
  /** Opening and discarding, one after the other. */
  #opening: Promise<void> = Promise.resolve();
  #writing: Promise<void> | undefined;
  #hurry = new AbortController();
  #onNews: () => void = () => undefined;

  constructor(options: MirrorOptions) {
    this.#options = options;
  }

  /** The log stands there now. Never rejects: without a mirror everything works, only slower. */
  open(range: LogRange): Promise<void> {
    return this.#inTurn(() => this.#open(range));
  }

  #inTurn(work: () => Promise<void>): Promise<void> {
    this.#opening = this.#opening.then(work).catch(() => undefined);
    return this.#opening;
  }

  async #open(range: LogRange): Promise<void> {
    if (this.#isOff || this.#closing.signal.aborted) return;
    this.#logId = range.logId;
    this.#fits = false;
    this.#mirror ??= await this.#opened();
    const misfit = this.#mirror && (await this.#misfit(this.#mirror, range));
    if (misfit) await this.#renew(misfit.why, misfit.hasMore);
    this.#fits = this.#mirror?.logId === range.logId;
    this.#waiting.reach(range.head);
    this.#writing ??= this.#write();
    this.#wake();
  }

  /** Nothing where the file cannot be used. */
  async #opened(): Promise<OpenMirror | undefined> {
    const { path, writtenBy } = this.#options;
    for (let isNew = false; ; isNew = true) {
      const store = sqliteStore({ path, writtenBy });
      try {
        const { oldest, head, lastId } = await store.log.open();
        const logId = await mirroredId(store);
        return { store, oldest, head, lastId, logId };
      } catch (error) {
        await store.close();
        if (isNew || !UNREADABLE.includes(codeOf(error))) {
          this.#giveUp(error);
          return undefined;
        }
        this.#warn(`is made anew: ${messageOf(error)}`);
        removeAll(path);
      }
    }
  }

  /** Why it is not one of the log as it stands, if it is not. */
  async #misfit(mirror: OpenMirror, range: LogRange): Promise<Misfit | undefined> {
    const { head, lastId, logId } = mirror;
    const less = (why: string) => ({ why, hasMore: false });
    const more = (why: string) => ({ why, hasMore: true });
    if (logId === "") return head > 0 ? less("it was not finished") : undefined;
    if (logId !== range.logId) return more(`it is of log ${logId}`);
    if (head > range.head) return more(`it has entry ${head}, and the log ends at ${range.head}`);
    if (range.head - head > MIRROR.tailEntries) return less(`it ends at ${head}, long ago`);
    try {
      for await (const _ of this.#options.from.read(head, lastId)) break;
      return undefined;
    } catch (error) {
      if (!MISFITS.includes(codeOf(error))) throw error;
      return { why: messageOf(error), hasMore: codeOf(error) === "DIVERGED" };
    }
  }

  async #renew(why: string, mustStay = false): Promise<void> {
    const { path } = this.#options;
    const aside = `${path}.old`;
    this.#warn(`is made anew: ${why}${mustStay ? `; the old one is ${aside}` : ""}`);
    const mirror = this.#mirror;
    this.#mirror = undefined;
    this.#fits = false;
    await mirror?.store.close();
    if (mustStay) moveFile(path, aside);
    else removeAll(path);
    this.#mirror = await this.#opened();
    this.#wake();
  }

  discard(why: unknown): Promise<void> {
    return this.#discard(this.#mirror, why);
  }

  /** Nothing, where it was discarded already. */
  #discard(mirror: OpenMirror | undefined, why: unknown): Promise<void> {
    return this.#inTurn(async () => {
      if (mirror && this.#isOpen(mirror)) await this.#renew(messageOf(why));
    });
  }

  #isOpen({ store }: OpenMirror): boolean {
    return this.#mirror?.store === store && !this.#closing.signal.aborted;
  }

  #giveUp(error: unknown): void {
    this.#isOff = true;
    this.#fits = false;
    this.#warn(`cannot be used, the shared log is read instead: ${messageOf(error)}`);
    this.#settle(Infinity);
  }

  #warn(what: string): void {
    if (!this.#closing.signal.aborted) {
      this.#options.onWarning(`the mirror of the log in ${this.#options.path} ${what}`);
    }
  }

  /** Was appended, or followed: kept where it goes on from what is there. */
  add(batch: MirroredBatch): void {
    if (this.#isOff || !this.#writing || batch.entries.length === 0) return;
    this.#waiting.add(batch);
    this.#onNews();
  }

  /** As far as it goes; nothing where it has not that entry, by that append. */
  async *read(after: number, afterId: string): AsyncGenerator<LogBatch> {
    const mirror = this.#mirror;
    if (!mirror || !this.#fits || after + 1 < mirror.oldest || after >= mirror.head) return;
    try {
      for await (const batch of mirror.store.log.read(after, afterId)) {
        // Its marks are those of a file: they say nothing of the shared log.
        yield { ...batch, mark: 0 };
      }
    } catch (error) {
      // A page that holds many appends has only the id of the last; and what is read slowly may be
      // truncated meanwhile, when a newer snapshot is kept.
      if (!MISFITS.includes(codeOf(error))) await this.#discard(mirror, error);
    }
  }

  async newest(): Promise<StoredSnapshot | undefined> {
    const mirror = this.#mirror;
    if (!mirror || !this.#fits) return undefined;
    try {
      return await mirror.store.log.loadSnapshot(Infinity);
    } catch (error) {
      await this.#discard(mirror, error);
      return undefined;
    }
  }

  /** The one before the last, and what came after that, stay. */
  async keep(snapshot: Snapshot): Promise<boolean> {
    await this.#until(snapshot.sequence);
    const mirror = this.#mirror;
    if (!mirror || !this.#fits || mirror.head < snapshot.sequence) return false;
    const { log } = mirror.store;
    const before = await log.loadSnapshot(snapshot.sequence - 1);
    await log.saveSnapshot(snapshot);
    if (before) {
      await log.truncate(before.sequence);
      this.#move(mirror, { oldest: before.sequence + 1 });
    }
    return true;
  }

  /** Until it has come so far, or never will. */
  #until(sequence: number): Promise<void> {
    if (!this.#writing || this.#isOff || this.#closing.signal.aborted) return Promise.resolve();
    if ((this.#mirror?.head ?? 0) >= sequence) return Promise.resolve();
    if (!this.#waiting.isBeyond(sequence - 1)) return Promise.resolve();
    return new Promise((settle) => {
      this.#reached.add({ sequence, settle });
      this.#wake();
    });
  }

  #settle(head = 0): void {
    for (const waiter of this.#reached) {
      if (waiter.sequence > head) continue;
      this.#reached.delete(waiter);
      waiter.settle();
    }
  }

  #wake(): void {
    this.#hurry.abort();
    this.#onNews();
  }

  /** Beside everything else, until it is closed. */
  async #write(): Promise<void> {
    const { signal: closing } = this.#closing;
    while (!closing.aborted && !this.#isOff) {
      const mirror = this.#mirror;
      this.#hurry = new AbortController();
      try {
        if (mirror?.logId === "") await this.#begin(mirror);
        else if (mirror) await this.#catchUp(mirror);
        await waited(MIRROR.restMs, this.#hurry.signal);
      } catch (error) {
        if (mirror) await this.#failed(mirror, error);
        await waited(MIRROR.retryMs, closing);
      }
      const isIdle = this.#isIdle;
      this.#settle(isIdle ? Infinity : this.#mirror?.head);
      if (isIdle) await this.#news();
    }
  }

  get #isIdle(): boolean {
    if (this.#closing.signal.aborted || this.#isOff) return false;
    return (
      !this.#mirror || !(this.#mirror.logId === "" || this.#waiting.isBeyond(this.#mirror.head))
    );
  }

  #news(): Promise<void> {
    return new Promise((resolve) => {
      this.#onNews = resolve;
    });
  }

  async #failed(mirror: OpenMirror, error: unknown): Promise<void> {
    if (!this.#isOpen(mirror)) return;
    const isFile = error instanceof FileFailure;
    if (isFile || NO_ROOM.includes(codeOf(error))) {
      await this.#inTurn(async () => {
        this.#mirror = undefined;
        await mirror.store.close();
        this.#giveUp(isFile ? error.cause : error);
      });
    } else if (mirror.logId === "" || MISFITS.includes(codeOf(error))) {
      await this.#discard(mirror, error);
    }
    // Else the shared log is away: there will be another try.
  }

  /** At the newest snapshot of the shared log, or at its beginning. */
  async #begin(mirror: OpenMirror): Promise<void> {
    const logId = this.#logId;
    const snapshot = await this.#options.from.loadSnapshot(Infinity);
    const { log, streams } = mirror.store;
    const { sequence = 0, id = "" } = snapshot ?? {};
    for (let head = 0; head < sequence; head = Math.min(sequence, head + MIRROR.padding)) {
      const count = Math.min(MIRROR.padding, sequence - head);
      const isLast = head + count === sequence;
      const own = isLast && id !== "" ? id : `${LOG_ID} ${head}`;
      await inFile(log.append({ entries: padding(count) }, { head, mark: head }, { id: own }));
    }
    if (snapshot) {
      await log.saveSnapshot(snapshot);
      await inFile(log.truncate(sequence));
    }
    await inFile(streams.append(LOG_ID, [logId]));
    this.#move(mirror, { logId, oldest: sequence + 1, head: sequence, lastId: id });
    this.#fits = this.#isOpen(mirror);
  }

  /** What waits goes on from it, or what is between is read. */
  async #catchUp(mirror: OpenMirror): Promise<void> {
    const { head, lastId } = mirror;
    const next = this.#waiting.take(head, lastId);
    if (next) await this.#append(mirror, next);
    else if (this.#waiting.isBeyond(head)) {
      let isThere = false;
      for await (const batch of this.#options.from.read(head, lastId)) {
        if (!this.#isOpen(mirror)) return;
        isThere = true;
        await this.#append(mirror, batch);
      }
      // Heard of, and lost: whoever follows will open the log anew.
      if (!isThere) this.#waiting.reach(head);
    }
  }

  async #append({ store }: OpenMirror, { first, entries, id }: MirroredBatch): Promise<void> {
    const at = { head: first - 1, mark: first - 1 };
    const own = id === "" ? `${LOG_ID} ${first}` : id;
    const { head } = await inFile(store.log.append({ entries }, at, { id: own }));
    if (this.#mirror?.store !== store) return;
    this.#move(this.#mirror, { head, lastId: id });
  }

  #move(mirror: OpenMirror, to: Partial<OpenMirror>): void {
    if (this.#mirror?.store === mirror.store) this.#mirror = { ...this.#mirror, ...to };
  }

  /** Idempotent. What waits is written, for the next start. */
  async close(): Promise<void> {
    this.#closing.abort();
    this.#settle(Infinity);
    this.#wake();
    await this.#opening;
    await this.#writing;
    const mirror = this.#mirror;
    this.#mirror = undefined;
    const last = mirror && mirror.logId !== "" && this.#waiting.take(mirror.head, mirror.lastId);
    if (last) await this.#append(mirror, last).catch(() => undefined);
    await mirror?.store.close();
  }
}

interface Misfit {
  readonly why: string;
  /** Whether it may have what the log has not. */
  readonly hasMore: boolean;
}

/** The file failed, not the shared log. */
class FileFailure extends Error {}

async function inFile<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (cause) {
    throw new FileFailure("the file of the mirror failed", { cause });
  }
}

/** The mirror and the log do not belong together, or not any more. */
const MISFITS: readonly string[] = ["DIVERGED", "OUT_OF_RANGE"];
/** Only the file is written to. */
const NO_ROOM: readonly string[] = ["STORAGE_FULL", "STORAGE_READ_ONLY"];
/** It is a copy: what cannot be read is made anew. */
const UNREADABLE: readonly string[] = ["STORAGE_CORRUPT", "STORAGE_TOO_NEW", "WRONG_STATE"];

/** Of which log it is; empty before it has begun, and of any other file. */
export async function mirroredId({ streams }: Store): Promise<string> {
  for await (const { entries } of streams.read(LOG_ID, 0)) return entries[0] ?? "";
  return "";
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
