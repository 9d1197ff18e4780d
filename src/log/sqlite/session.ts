/**
 * The part that the log and the streams of one database share: its thread, commits and tail.
 *
 * To check the pages of a large file takes as long as to read the state from it. So both happen at
 * once, on two threads: no read ends and no write begins before the pages are known to be whole.
 */
import { RollcallError } from "../../core/errors.ts";
import type { LogPosition, LogPrograms, LogRange } from "../log.ts";
import type { StreamBatch, StreamRange } from "../streams.ts";
import { Tail } from "../tail.ts";
import { Commits } from "./commits.ts";
import { isLarge } from "./check.ts";
import { corrupt } from "./driver.ts";
import type { Argument, Decoded, Name, OpenOptions, Page, Result, Span } from "./protocol.ts";
import { SqliteThread } from "./thread.ts";

export class SqliteSession {
  readonly commits = new Commits((commit) => this.write("commit", commit));
  readonly #options: OpenOptions;
  readonly #thread = new SqliteThread((failure) => this.#tail.fail(failure));
  readonly #closing = new AbortController();
  #tail = new Tail({ head: 0, mark: 0 });
  #lastWriter: string | undefined;
  /** Until an append that begins above it succeeded. */
  #floor: number | undefined;
  /** Until the pages are known to be whole, if ever. */
  #verdict: Promise<void> | undefined;
  #opening: Promise<LogRange> | undefined;
  #closed: Promise<void> | undefined;
  #isSweeping = false;
  #mustSweep = false;

  constructor(options: OpenOptions) {
    this.#options = options;
  }

  get tail(): Tail {
    this.#thread.checkRunning();
    return this.#tail;
  }

  get programs(): LogPrograms | undefined {
    if (this.#lastWriter === undefined) return undefined;
    return { last: this.#lastWriter, own: this.#options.writtenBy };
  }

  /** Aborts when the store closes. */
  get closing(): AbortSignal {
    return this.#closing.signal;
  }

  /** Starts the thread, or starts it anew when it died; open already, it only looks at the head. */
  open(): Promise<LogRange> {
    this.#opening ??= this.#open().finally(() => {
      this.#opening = undefined;
    });
    return this.#opening;
  }

  async #open(): Promise<LogRange> {
    if (this.closing.aborted) throw new RollcallError("WRONG_STATE", "the store is closed");
    if (this.#thread.isRunning) {
      const range = await this.call("range", undefined);
      if (range.head > this.#tail.head) this.#tail.moveTo(range);
      return { ...range, ...(this.#floor !== undefined && { floor: this.#floor }) };
    }
    this.#thread.start();
    this.#verdict = undefined;
    const checker = new SqliteThread(() => undefined);
    // It starts while the file is opened.
    if (!this.#options.isReader && isLarge(this.#options.path)) checker.start();
    try {
      const { lastWriter, isUnchecked, ...range } = await this.call("open", this.#options);
      this.#lastWriter = lastWriter;
      if (isUnchecked) this.#awaitVerdict(pagesChecked(checker, this.#options.path));
      else await checker.stop();
      this.#floor = range.floor;
      this.#tail = new Tail(range);
      // A crash may have left something half-done.
      if (!this.#options.isReader) this.sweep();
      return range;
    } catch (error) {
      await Promise.all([this.#thread.stop(), checker.stop()]);
      throw error;
    }
  }

  /** One that rejects stays: whatever awaits it is refused. */
  #awaitVerdict(verdict: Promise<void>): void {
    this.#verdict = verdict;
    const passed = () => {
      if (this.#verdict === verdict) this.#verdict = undefined;
    };
    verdict.then(passed, () => undefined);
  }

  /** The log has grown to here, by an append with this fence. */
  moveTo(position: LogPosition, fence: number): void {
    if (fence >= (this.#floor ?? 0)) this.#floor = undefined;
    this.tail.moveTo(position);
  }

  call<K extends Name>(name: K, argument: Argument<K>): Promise<Result<K>> {
    return this.#thread.call(name, argument);
  }

  /** A call that writes. */
  write<K extends Name>(name: K, argument: Argument<K>): Promise<Result<K>> {
    const verdict = this.#verdict;
    return verdict ? verdict.then(() => this.call(name, argument)) : this.call(name, argument);
  }

  /**
   * Deletes what was forgotten, in the background, piece by piece, so that an append waits for one
   * piece at most. Nobody waits for it: what is to be deleted can be seen by nobody, and the file
   * knows of it, so it goes on after a crash.
   */
  sweep(): void {
    this.#mustSweep = true;
    if (!this.#isSweeping) void this.#sweepAll();
  }

  async #sweepAll(): Promise<void> {
    this.#isSweeping = true;
    try {
      while (this.#mustSweep) {
        this.#mustSweep = false;
        while (!this.closing.aborted && (await this.write("sweep", undefined)));
      }
    } catch {
      // The disk is full or the thread died: the next one who forgets something tries again.
    }
    this.#isSweeping = false;
  }

  /** The pages of a span; the next one is on its way while the caller is busy with this one. */
  async *pages<P extends Decoded<Page>>(
    { what, read, range }: PagesOf<P>,
    span: Span,
  ): AsyncGenerator<PageEntries<P>> {
    const { through } = span;
    let { after } = span;
    let next = after < through ? read(span) : undefined;
    while (next) {
      const page = await next;
      if (!page || page.first > after + 1) throw await this.#missing({ what, range }, after);
      next = page.last < through ? read({ after: page.last, through }) : undefined;
      // It rejects when it is awaited, if ever.
      next?.catch(() => undefined);
      yield { page, ...entriesOf(`${what} in ${this.#options.path}`, page, after) };
      after = page.last;
    }
    await this.#verdict;
  }

  /** Forgotten while it was read, or never to be missed. */
  async #missing({ what, range }: Omit<PagesOf<unknown>, "read">, after: number) {
    const { oldest, head } = await range();
    if (oldest > after + 1 || head <= after) {
      return new RollcallError("OUT_OF_RANGE", `${what} was truncated after ${after}`);
    }
    return corrupt(this.#options.path, `entry ${after + 1} of ${what} is missing`);
  }

  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    this.#closing.abort();
    await this.#opening?.catch(() => undefined);
    await this.#verdict?.catch(() => undefined);
    if (!this.#thread.isRunning) return;
    await this.commits.settled();
    await this.#thread.stop();
  }
}

async function pagesChecked(checker: SqliteThread, path: string): Promise<void> {
  if (!checker.isRunning) checker.start();
  try {
    await checker.call("checkBeside", path);
  } finally {
    await checker.stop();
  }
}

/** The log or a stream. */
interface PagesOf<P> {
  readonly what: string;
  readonly read: (span: Span) => Promise<P | undefined>;
  readonly range: () => Promise<StreamRange>;
}

/** A page, and those of its entries that were asked for. */
interface PageEntries<P> extends StreamBatch {
  readonly page: P;
}

/** The entries of a page that come after `after`. */
function entriesOf(what: string, { first, last, text }: Decoded<Page>, after: number): StreamBatch {
  const entries = text.split("\n");
  if (entries.length !== last - first + 1) {
    throw corrupt(what, `it holds ${entries.length} entries from ${first} to ${last}`);
  }
  const skipped = Math.max(0, after + 1 - first);
  return { first: first + skipped, entries: skipped > 0 ? entries.slice(skipped) : entries };
}
