/**
 * The moving end of a log: followers wait here. An append only says "there is more" and each
 * follower reads it at its own pace, so a slow one costs no memory. Signs of life that a follower
 * did not see in time become one.
 */
import type { LogBatch } from "./log.ts";

export type Read = (after: number) => AsyncIterable<LogBatch>;

export class Tail {
  #head: number;
  #signs = 0;
  #failure: Error | undefined;
  readonly #waiting = new Set<() => void>();

  constructor(head: number) {
    this.#head = head;
  }

  get head(): number {
    return this.#head;
  }

  moveTo(head: number): void {
    this.#head = head;
    this.#wake();
  }

  sign(): void {
    this.#signs += 1;
    this.#wake();
  }

  /** Rejects all followers with `failure`. */
  fail(failure: Error): void {
    this.#failure = failure;
    this.#wake();
  }

  async *follow(read: Read, after: number, signal: AbortSignal): AsyncGenerator<LogBatch> {
    let position = after;
    let signs = this.#signs;
    const isEnded = () => signal.aborted;
    while (!isEnded()) {
      if (this.#failure) throw this.#failure;
      if (this.#head > position) {
        for await (const batch of read(position)) {
          if (isEnded()) return;
          position = batch.first + batch.entries.length - 1;
          yield batch;
        }
      } else if (this.#signs > signs) {
        signs = this.#signs;
        yield { first: position + 1, entries: [] };
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
