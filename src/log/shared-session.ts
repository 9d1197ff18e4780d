/**
 * The part that the log and the streams of a store on servers share: whether it is open, what is
 * under way, trying again while the servers are away for a moment, and how it is closed.
 */
import { RollcallError } from "../core/errors.ts";
import type { Failures } from "./failures.ts";
import { retried, waited } from "./retry.ts";

export interface SharedSessionOptions {
  readonly place: string;
  /** Of what an operator should know and nobody has to wait for. */
  readonly onWarning: (message: string) => void;
  readonly failures: Pick<Failures, "isPassing" | "errorOf">;
  /** How long a read goes on trying. */
  readonly readWithinMs: number;
  /** What is under way may take so long to end when the store closes. */
  readonly closeMs: number;
}

export abstract class SharedSession {
  readonly place: string;
  readonly onWarning: (message: string) => void;
  readonly #options: SharedSessionOptions;
  readonly #closing = new AbortController();
  readonly #underWay = new Set<Promise<unknown>>();
  #closed: Promise<void> | undefined;
  /** Of the log that is open here. */
  protected openId: string | undefined;

  constructor(options: SharedSessionOptions) {
    this.#options = options;
    this.place = options.place;
    this.onWarning = options.onWarning;
  }

  /** Of one append. */
  abstract get appendBytes(): number;

  /** Ends the connections. */
  protected abstract disconnect(): Promise<void>;

  /** Aborts when the store closes. */
  get closing(): AbortSignal {
    return this.#closing.signal;
  }

  get logId(): string {
    return this.openId ?? "";
  }

  checkNotClosed(): void {
    if (this.closing.aborted) throw new RollcallError("WRONG_STATE", "the store is closed");
  }

  /** Before each call; what was called before the store closes may end. */
  checkOpen(): void {
    this.checkNotClosed();
    if (this.openId === undefined) throw new RollcallError("WRONG_STATE", "the log is not open");
  }

  /** What may be done twice, again and again while the servers are away for a moment. */
  protected retried<T>(work: (tries: number) => Promise<T>): Promise<T> {
    const { readWithinMs: withinMs, failures } = this.#options;
    const { isPassing, errorOf } = failures;
    return this.counted(async () => {
      try {
        return await retried(work, { withinMs, signal: this.closing, isPassing });
      } catch (error) {
        throw errorOf(error, this.place);
      }
    });
  }

  protected async counted<T>(work: () => Promise<T>): Promise<T> {
    const call = work();
    this.#underWay.add(call);
    try {
      return await call;
    } finally {
      this.#underWay.delete(call);
    }
  }

  /** What is under way may end first, for a moment, and what waits to be written. */
  close(settled: () => Promise<void>): Promise<void> {
    this.#closed ??= this.#close(settled);
    return this.#closed;
  }

  async #close(settled: () => Promise<void>): Promise<void> {
    this.#closing.abort();
    const ended = new AbortController();
    const ending = settled()
      .then(() => Promise.allSettled(this.#underWay))
      .then(() => ended.abort());
    await Promise.race([ending, waited(this.#options.closeMs, ended.signal)]);
    await this.disconnect();
  }
}
