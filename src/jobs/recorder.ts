/**
 * What one turn of the loop decides is recorded as one append, to as many streams as it touches,
 * all or nothing. After a crash the journal holds whole turns and no halves.
 *
 *   append, append, after ─▶ gathering ──(turn ends)──▶ writing ──(durable)──▶ released
 *                              ▲  what comes meanwhile gathers for the next one
 *
 * Released means: replies go out (`after`), then the entries are shown to those who listen on the
 * streams. So nobody outside ever saw what a crash could take back. With `isEager` the batch is
 * released when its turn ends, before the disk has it: sooner by one sync, and no longer safe.
 *
 * A journal that fails ends the recorder: what memory holds is then ahead of the disk, and only a
 * new start from the journal makes them agree.
 */
import { RollcallError } from "../core/errors.ts";
import type { Streams } from "../log/streams.ts";
import { RECORDER } from "./limits.ts";

/** Who is shown the entries of a stream when they count. */
export interface StreamListener {
  onRecorded(entries: readonly string[]): void;
}

interface Part {
  readonly listener: StreamListener | undefined;
  readonly entries: string[];
}

interface Batch {
  readonly parts: Map<string, Part>;
  readonly replies: (() => void)[];
  /** Who waits for the disk itself. */
  readonly waiters: (() => void)[];
  bytes: number;
}

export interface RecorderOptions {
  readonly journal: Streams;
  readonly isEager?: boolean;
  /** The end: nothing is recorded any more. */
  readonly onFailure: (error: unknown) => void;
}

interface PositionedEntry {
  readonly position: number;
  readonly entry: string;
}

export class Recorder {
  readonly journal: Streams;
  readonly #isEager: boolean;
  readonly #onFailure: (error: unknown) => void;
  #gathering = newBatch();
  #writing: Batch | undefined;
  #isScheduled = false;
  #failure: RollcallError | undefined;
  readonly #roomWaiters: (() => void)[] = [];

  constructor({ journal, isEager = false, onFailure }: RecorderOptions) {
    this.journal = journal;
    this.#isEager = isEager;
    this.#onFailure = onFailure;
  }

  /** What is durable of a stream, entry by entry. */
  async *read(stream: string, after: number): AsyncGenerator<PositionedEntry> {
    for await (const { first, entries } of this.journal.read(stream, after)) {
      let position = first;
      for (const entry of entries) yield { position: position++, entry };
    }
  }

  /** The listener of a stream is always the same. */
  append(stream: string, entry: string, listener?: StreamListener): void {
    if (this.#failure) return;
    const batch = this.#gathering;
    const part = batch.parts.get(stream);
    if (part) part.entries.push(entry);
    else batch.parts.set(stream, { listener, entries: [entry] });
    batch.bytes += entry.length;
    this.#schedule();
  }

  /** Calls when all that was appended so far counts; at once when it does already. */
  after(call: () => void): void {
    if (this.#failure) return;
    if (isEmpty(this.#gathering)) {
      const last = this.#isEager ? undefined : this.#writing;
      if (!last) call();
      else last.replies.push(call);
      return;
    }
    this.#gathering.replies.push(call);
    this.#schedule();
  }

  /** What was appended to a stream and is not durable yet, oldest first. */
  pending(stream: string): readonly string[] {
    const writing = this.#writing?.parts.get(stream)?.entries ?? [];
    const gathering = this.#gathering.parts.get(stream)?.entries ?? [];
    return writing.length === 0 ? gathering : [...writing, ...gathering];
  }

  get waitingBytes(): number {
    return this.#gathering.bytes + (this.#writing?.bytes ?? 0);
  }

  /** Undefined while producers may go on; else when they may again. Throws where none should be. */
  room(): Promise<void> | undefined {
    if (this.#failure) throw this.#failure;
    if (this.#gathering.bytes < RECORDER.softBytes) return undefined;
    if (this.waitingBytes >= RECORDER.hardBytes) {
      const limit = `${RECORDER.hardBytes} bytes`;
      throw new RollcallError("LIMIT_EXCEEDED", `more than ${limit} of events wait for the disk`);
    }
    return new Promise((resolve) => this.#roomWaiters.push(resolve));
  }

  /** When all that was appended so far is durable; also when it never will be. */
  settled(): Promise<void> {
    const last = isEmpty(this.#gathering) ? this.#writing : this.#gathering;
    if (!last || this.#failure) return Promise.resolve();
    return new Promise((resolve) => last.waiters.push(resolve));
  }

  /** Nothing is recorded any more; what agents still say goes nowhere. */
  stop(): void {
    this.#failure ??= new RollcallError("WRONG_STATE", "the runtime is closed");
  }

  get hasFailed(): boolean {
    return this.#failure !== undefined;
  }

  #schedule(): void {
    if (this.#isScheduled || this.#writing || this.#failure) return;
    this.#isScheduled = true;
    setImmediate(() => void this.#write());
  }

  async #write(): Promise<void> {
    this.#isScheduled = false;
    const batch = this.#gathering;
    this.#gathering = newBatch();
    this.#writing = batch;
    // Agents fill the next batch while the disk takes this one.
    wake(this.#roomWaiters.splice(0));
    if (this.#isEager) release(batch);
    try {
      const appends = Array.from(batch.parts, ([stream, { entries }]) => ({ stream, entries }));
      if (appends.length > 0) await this.journal.appendAll(appends);
    } catch (error) {
      this.#fail(error);
      return;
    }
    this.#writing = undefined;
    if (!this.#isEager) release(batch);
    wake(batch.waiters);
    if (!isEmpty(this.#gathering)) this.#schedule();
  }

  #fail(cause: unknown): void {
    this.#failure = new RollcallError("UNAVAILABLE", "the journal failed", { cause });
    const waiters = [...(this.#writing?.waiters ?? []), ...this.#gathering.waiters];
    this.#writing = undefined;
    this.#gathering = newBatch();
    wake([...waiters, ...this.#roomWaiters.splice(0)]);
    this.#onFailure(cause);
  }
}

function wake(waiters: readonly (() => void)[]): void {
  for (const go of waiters) go();
}

function isEmpty({ parts, replies }: Batch): boolean {
  return parts.size === 0 && replies.length === 0;
}

function newBatch(): Batch {
  return { parts: new Map(), replies: [], waiters: [], bytes: 0 };
}

/** Replies first: a job is accepted, and its cancel acknowledged, before its events are seen. */
function release({ parts, replies }: Batch): void {
  for (const reply of replies) reply();
  for (const { listener, entries } of parts.values()) listener?.onRecorded(entries);
}
