/** Text on stdout that is out when the call returns: the next thing may be a kill. */
import { writeSync } from "node:fs";

export function sayNow(text: string): void {
  for (;;) {
    try {
      writeSync(1, text);
      return;
    } catch (error) {
      // The reader of the pipe is busy, and nothing of a short line was written.
      if (!(error instanceof Error && "code" in error && error.code === "EAGAIN")) throw error;
    }
  }
}
