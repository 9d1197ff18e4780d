/**
 * The path of a file that is open. Moved, deleted or replaced, the file can still be written, and
 * what is written is lost with it, while another process may begin at the same path.
 */
import { closeSync, fsyncSync, openSync, statSync, type BigIntStats } from "node:fs";
import { dirname } from "node:path";
import { RollcallError } from "../../core/errors.ts";

export class Place {
  readonly #path: string;
  readonly #opened: BigIntStats | undefined;

  constructor(path: string) {
    this.#path = path;
    this.#opened = look(path);
  }

  /** Whether the path still leads to the file that was opened. */
  isKept(now = look(this.#path)): boolean {
    return now !== undefined && now.dev === this.#opened?.dev && now.ino === this.#opened.ino;
  }

  /** Throws unless it does. */
  check(): void {
    const now = look(this.#path);
    if (this.isKept(now)) return;
    const what = now ? "was replaced by another file" : "was moved or deleted";
    throw new RollcallError(
      "UNAVAILABLE",
      `${this.#path} ${what} while it was open: nothing more is written to it; ` +
        "put it back, or stop this process and start it anew",
    );
  }
}

/** Makes a new name in the folder of a file durable, where folders can be synced. */
export function syncFolder(path: string): void {
  let folder: number | undefined;
  try {
    folder = openSync(dirname(path), "r");
    fsyncSync(folder);
  } catch {
    // Windows does it by itself.
  } finally {
    if (folder !== undefined) closeSync(folder);
  }
}

function look(path: string): BigIntStats | undefined {
  return statSync(path, { bigint: true, throwIfNoEntry: false });
}
