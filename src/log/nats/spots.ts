/** Where in JetStream appends to the log stand that were made, heard or read here. */
import { NATS } from "./limits.ts";
import type { StoredMessage } from "./stored.ts";

export class Spots {
  #spots: readonly Spot[] = [];
  #added: Spot[] = [];

  add({ sequence, head, count }: Pick<StoredMessage, "sequence" | "head" | "count">): void {
    if (count === 0) return;
    this.#added.push({ sequence, head });
    if (this.#added.length >= NATS.spots) {
      this.#spots = this.#added;
      this.#added = [];
    }
  }

  /** A sequence in JetStream, as near as it is known, at or before the entry. */
  before(position: number): number {
    let nearest = 1;
    for (const { sequence, head } of [...this.#spots, ...this.#added]) {
      if (head < position && sequence >= nearest) nearest = sequence + 1;
    }
    return nearest;
  }
}

interface Spot {
  readonly sequence: number;
  readonly head: number;
}
