/**
 * Lets bursts of work in a few at a time, with a turn of the event loop between them: a thousand
 * new agents at once are heard one after the other, and heartbeats that need no work pass by.
 */
import { RollcallError } from "../core/errors.ts";
import { TURNSTILE } from "./limits.ts";

export class Turnstile {
  #queue: (() => void)[] = [];
  #passed = 0;

  /** Resolves when it is the caller's turn; rejects where too many wait already. */
  async pass(): Promise<void> {
    if (this.#passed === 0) setImmediate(() => this.#turn());
    if (this.#passed < TURNSTILE.perTurn) {
      this.#passed += 1;
      return;
    }
    if (this.#queue.length >= TURNSTILE.waiting) {
      throw new RollcallError("UNAVAILABLE", `${TURNSTILE.waiting} new agents wait to be heard`);
    }
    await new Promise<void>((resolve) => void this.#queue.push(resolve));
  }

  #turn(): void {
    const next = this.#queue.slice(0, TURNSTILE.perTurn);
    this.#queue = this.#queue.slice(TURNSTILE.perTurn);
    this.#passed = next.length;
    if (next.length > 0) setImmediate(() => this.#turn());
    for (const enter of next) enter();
  }
}
