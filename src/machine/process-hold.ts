/**
 * Keeps the process alive while somebody waits for an answer, and only then. A socket that is open
 * and a heartbeat that is due keep nobody from going home; a caller in `await` does, even while
 * there is no socket because the server is away.
 */

const LONGEST_MS = 2 ** 31 - 1;

export class ProcessHold {
  #holders = 0;
  #timer: NodeJS.Timeout | undefined;

  /** Returns how to let go. */
  take(): () => void {
    this.#holders += 1;
    this.#timer ??= setInterval(() => undefined, LONGEST_MS);
    let isHeld = true;
    return () => {
      if (isHeld) this.#holders -= 1;
      isHeld = false;
      if (this.#holders > 0) return;
      clearInterval(this.#timer);
      this.#timer = undefined;
    };
  }
}
