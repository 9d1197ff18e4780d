/**
 * Connections that were closed without a word, because there are too many: counted, and said in the
 * log when it begins and then once a minute, however many there are.
 */
import type { Clock } from "../core/clock.ts";
import { MINUTE } from "../core/units.ts";

export interface RefusedConnectionsOptions {
  readonly clock: Pick<Clock, "after">;
  readonly warn: (numbers: object, message: string) => void;
}

export class RefusedConnections {
  readonly #options: RefusedConnectionsOptions;
  #unsaid = 0;
  #stopWaiting: (() => void) | undefined;
  /** Since the start, for metrics. */
  total = 0;

  constructor(options: RefusedConnectionsOptions) {
    this.#options = options;
  }

  readonly add = (): void => {
    this.total += 1;
    this.#unsaid += 1;
    if (!this.#stopWaiting) this.#say();
  };

  close(): void {
    this.#stopWaiting?.();
  }

  #say(): void {
    const { clock, warn } = this.#options;
    warn({ refused: this.#unsaid }, "too many connections: some were closed");
    this.#unsaid = 0;
    this.#stopWaiting = clock.after(MINUTE, () => {
      this.#stopWaiting = undefined;
      if (this.#unsaid > 0) this.#say();
    });
  }
}
