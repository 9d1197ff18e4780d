/** The log as the checks replay it: the state that it gives at each sequence. */
import type { RecordedEvent } from "../../src/core/events.ts";
import { rules } from "../../src/core/rules.ts";
import { fingerprint } from "../../src/core/snapshot.ts";
import { emptyState } from "../../src/core/state.ts";
import { setLimits } from "./sim-jobs.ts";

export class Replay {
  readonly state = emptyState();
  #fingerprint: string | undefined;

  constructor() {
    setLimits(this.state);
  }

  evolve({ event, atMs }: RecordedEvent): void {
    this.#fingerprint = undefined;
    rules.evolve(this.state, event, atMs);
  }

  /** Dear, and asked for by many at the same sequence: made once. */
  get fingerprint(): string {
    this.#fingerprint ??= fingerprint(this.state);
    return this.#fingerprint;
  }
}
