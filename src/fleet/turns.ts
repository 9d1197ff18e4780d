/**
 * Reading the log from its beginning may be a second's work, and a state of the past takes as much
 * memory as that of now: so it is done one at a time. Of the callers that see the same rows a few
 * may wait, and more are told to come back.
 */
import { RollcallError } from "../core/errors.ts";

/** A caller that would wait behind so many asks for the wrong thing, or too often. */
const WAITING_MOST = 8;

export class LogTurns {
  /** Of all callers: each that sees other rows waits there with one piece of work at the most. */
  readonly #all: LogTurns | undefined;
  #last: Promise<unknown> = Promise.resolve();
  #waiting = 0;

  constructor(all?: LogTurns) {
    this.#all = all;
  }

  async take<T>(work: () => Promise<T>): Promise<T> {
    if (this.#all && this.#waiting >= WAITING_MOST) {
      const message = `${WAITING_MOST} requests already wait to read the log`;
      throw new RollcallError("LIMIT_EXCEEDED", message);
    }
    this.#waiting += 1;
    const all = this.#all;
    const done = this.#last.then(all ? () => all.take(work) : work);
    this.#last = done.catch(() => undefined);
    try {
      return await done;
    } finally {
      this.#waiting -= 1;
    }
  }
}
