/**
 * Answers of HTTP that were handed over and that their client has not read. What waits of them is
 * counted, and a client that takes nothing of its answer for a while is cut.
 */
import type { ServerResponse } from "node:http";
import type { WaitingBytes } from "../net/waiting.ts";

export interface UnreadOptions {
  readonly answers: WaitingBytes;
  readonly stallMs: number;
}

export class UnreadAnswers {
  readonly #options: UnreadOptions;

  constructor(options: UnreadOptions) {
    this.#options = options;
  }

  /** Of an answer that is whole. Nearly all are taken by the kernel at once. */
  add(response: ServerResponse): void {
    const bytes = response.writableLength;
    if (bytes === 0) return;
    const { answers, stallMs } = this.#options;
    const waiter = { cut: () => void response.destroy() };
    response.once("close", () => answers.release(waiter));
    response.setTimeout(stallMs, waiter.cut);
    answers.hold(waiter, bytes);
  }
}
