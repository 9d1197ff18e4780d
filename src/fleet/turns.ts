/**
 * Reading the log from its beginning may be a second's work, so it is done one at a time; a few may
 * wait, and more are told to come back.
 */
import { RollcallError } from "../core/errors.ts";

/** A caller that would wait behind so many asks for the wrong thing, or too often. */
const WAITING_MOST = 8;

export class LogTurns {
  #last: Promise<unknown> = Promise.resolve();
  #waiting = 0;

  async take<T>(work: () => Promise<T>): Promise<T> {
    if (this.#waiting >= WAITING_MOST) {
      const message = `${WAITING_MOST} requests already wait to read the log`;
      throw new RollcallError("LIMIT_EXCEEDED", message);
    }
    this.#waiting += 1;
    const done = this.#last.then(work);
    this.#last = done.catch(() => undefined);
    try {
      return await done;
    } finally {
      this.#waiting -= 1;
    }
  }
}
