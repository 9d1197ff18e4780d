/**
 * The moving end of a log: followers wait here. An append only says "there is more" and each
 * follower reads it at its own pace, so a slow one costs no memory. Signs of life that a follower
 * did not see in time become one.
 */
import type { LogBatch, LogPosition } from "./log.ts";

export type Read = (after: number, afterId?: string) => AsyncIterable<LogBatch>;

/** The position up to which a follower has read. */
export interface FollowStart {
  readonly after: number;
  readonly afterId: string | undefined;
}

export class Tail {
  #position: LogPosition;
  #signs = 0;
  #failure: Error | undefined;
  readonly #waiting = new Set<() => void>();

  constructor(position: LogPosition) {
    this.#position = position;
  }

  get position(): LogPosition {
    return this.#position;
  }

  get head(): number {
    return this.#position.head;
  }

  /** An append was written; at the same head it is a sign of life. */
  moveTo(position: LogPosition): void {
    if (position.head === this.head) this.#signs += 1;
    this.#position = position;
    this.#wake();
  }

  /** Rejects all followers with `failure`. */
  fail(failure: Error): void {
    this.#failure = failure;
    this.#wake();
  }

  async *follow(
    read: Read,
    { after, afterId }: FollowStart,
    signal: AbortSignal,
  ): AsyncGenerator<LogBatch> {
    let position = after;
    let id = afterId ?? "";
    // Read once in any case: it finds out whether this is the log that was read before.
    let isNew = true;
    let signs = this.#signs;
    const isEnded = () => signal.aborted;
    while (!isEnded()) {
      if (this.#failure) throw this.#failure;
      if (isNew || this.head > position) {
        for await (const batch of read(position, isNew ? afterId : undefined)) {
          if (isEnded()) return;
          isNew = false;
          position = batch.first + batch.entries.length - 1;
          ({ id } = batch);
          yield batch;
        }
        isNew = false;
      } else if (this.#signs > signs) {
        signs = this.#signs;
        const { mark } = this.#position;
        yield { first: position + 1, entries: [], mark, id, previous: id };
      } else {
        await this.#change(signal);
      }
    }
  }

  #change(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const wake = () => {
        this.#waiting.delete(wake);
        signal.removeEventListener("abort", wake);
        resolve();
      };
      this.#waiting.add(wake);
      signal.addEventListener("abort", wake);
    });
  }

  #wake(): void {
    for (const wake of this.#waiting) wake();
  }
}
