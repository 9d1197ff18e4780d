/**
 * The path of a file that is open. Moved, deleted or replaced, the file can still be written, and
 * what is written is lost with it, while another process may begin at the same path.
 */
import { statSync, type BigIntStats } from "node:fs";
import { RollcallError } from "../../core/errors.ts";

export class Place {
  readonly #path: string;
  readonly #opened: BigIntStats | undefined;

  constructor(path: string) {
    this.#path = path;
    this.#opened = look(path);
  }

  /** Throws unless the path still leads to the file that was opened. */
  check(): void {
    const now = look(this.#path);
    if (now && now.dev === this.#opened?.dev && now.ino === this.#opened.ino) return;
    const what = now ? "was replaced by another file" : "was moved or deleted";
    throw new RollcallError(
      "UNAVAILABLE",
      `${this.#path} ${what} while it was open: nothing more is written to it; ` +
        "put it back, or stop this process and start it anew",
    );
  }
}

function look(path: string): BigIntStats | undefined {
  return statSync(path, { bigint: true, throwIfNoEntry: false });
}
