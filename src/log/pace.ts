/** The pace of snapshots: so many bytes a second, after a first piece that goes at once. */
import { SNAPSHOT } from "./limits.ts";
import { waited } from "./retry.ts";

export class Pace {
  readonly #signal: AbortSignal;
  #freeMs = performance.now();

  constructor(signal: AbortSignal) {
    this.#signal = signal;
  }

  async wrote(bytes: number): Promise<void> {
    this.#freeMs += (bytes / SNAPSHOT.bytesPerS) * 1000;
    const ahead = this.#freeMs - performance.now();
    if (ahead > 0) await waited(ahead, this.#signal);
    else this.#freeMs = performance.now();
  }
}
