/** The log as the checks replay it: the state that it gives at each sequence. */
import type { RecordedEvent } from "../../src/core/events.ts";
import { rules } from "../../src/core/rules.ts";
import { fingerprintOf } from "../../src/core/snapshot.ts";
import { emptyState } from "../../src/core/state.ts";
import { setLimits } from "./sim-jobs.ts";

export class Replay {
  readonly state = emptyState();
  #fingerprint: string | undefined;
  readonly #texts = new WeakMap<object, string>();

  constructor() {
    setLimits(this.state);
  }

  evolve({ event, atMs }: RecordedEvent): void {
    this.#fingerprint = undefined;
    rules.evolve(this.state, event, atMs);
  }

  /** Dear, and asked for by many at the same sequence: made once. */
  get fingerprint(): string {
    this.#fingerprint ??= fingerprintOf(this.state, (record) => this.#textOf(record));
    return this.#fingerprint;
  }

  /**
   * Most are those of the last time. A rule that changes a record in its place does not stay
   * hidden by that: the nodes write theirs anew whenever they are compared with this.
   */
  #textOf(record: unknown): string {
    if (typeof record !== "object" || record === null) return JSON.stringify(record);
    const text = this.#texts.get(record) ?? JSON.stringify(record);
    this.#texts.set(record, text);
    return text;
  }
}
