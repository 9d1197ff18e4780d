/**
 * Tells the runtime how far events were read, so that it can let them go, and stop when a reader
 * falls behind: what is not read is not acknowledged. Not for every event: after a number of them,
 * or a moment after the first.
 */
import type { Clock } from "../../../core/clock.ts";
import { ARCP_CLIENT } from "./limits.ts";

export interface AckOptions {
  readonly clock: Clock;
  /** The last event of all that were read without a gap, and the last that came. */
  readonly progress: () => { readonly read: number; readonly last: number };
  readonly send: (lastProcessedSeq: number) => void;
}

export class Acks {
  readonly #options: AckOptions;
  #sent = 0;
  #stopTimer: (() => void) | undefined;

  constructor(options: AckOptions) {
    this.#options = options;
  }

  /** An event has come, or was read. */
  note(last: number): void {
    if (last - this.#sent >= ARCP_CLIENT.ackEvents) this.#tell();
    this.#stopTimer ??= this.#options.clock.after(ARCP_CLIENT.ackMs, this.#ring);
  }

  /** Another connection: what was told on the old one may be lost. A new session begins at 0. */
  restart(): void {
    this.#sent = 0;
  }

  close(): void {
    this.#stopTimer?.();
    this.#stopTimer = undefined;
  }

  readonly #ring = () => {
    // A slow reader reads on, though nothing new comes.
    const isBehind = this.#tell();
    this.#stopTimer = isBehind
      ? this.#options.clock.after(ARCP_CLIENT.ackMs, this.#ring)
      : undefined;
  };

  /** Whether something that came waits for its reader. */
  #tell(): boolean {
    const { read, last } = this.#options.progress();
    if (read > this.#sent) {
      this.#sent = read;
      this.#options.send(read);
    }
    return read < last;
  }
}
