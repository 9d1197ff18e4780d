/**
 * How many may fetch at once, in all and from one origin. Whoever comes too many waits his turn, in
 * order; one whose origin is busy lets those behind him pass.
 */
import type { FetchLimits } from "./limits.ts";

interface Waiting {
  readonly origin: string;
  readonly enter: () => void;
}

export type Leave = () => void;

export class Gate {
  readonly #limits: FetchLimits;
  readonly #inside = new Map<string, number>();
  #count = 0;
  #waiting: readonly Waiting[] = [];

  constructor(limits: FetchLimits) {
    this.#limits = limits;
  }

  get inside(): number {
    return this.#count;
  }

  /** Undefined where too many wait already, or the signal aborts first. */
  async enter(origin: string, signal: AbortSignal): Promise<Leave | undefined> {
    if (signal.aborted) return undefined;
    if (this.#hasRoom(origin)) return this.#let(origin);
    if (this.#waiting.length >= this.#limits.waiting) return undefined;
    return new Promise((resolve) => {
      const waiting: Waiting = {
        origin,
        enter: () => {
          signal.removeEventListener("abort", goAway);
          resolve(this.#let(origin));
        },
      };
      const goAway = (): void => {
        this.#waiting = this.#waiting.filter((each) => each !== waiting);
        resolve(undefined);
      };
      signal.addEventListener("abort", goAway, { once: true });
      this.#waiting = [...this.#waiting, waiting];
    });
  }

  #hasRoom(origin: string): boolean {
    const { atOnce, atOncePerOrigin } = this.#limits;
    return this.#count < atOnce && (this.#inside.get(origin) ?? 0) < atOncePerOrigin;
  }

  #let(origin: string): Leave {
    this.#count += 1;
    this.#inside.set(origin, (this.#inside.get(origin) ?? 0) + 1);
    let isInside = true;
    return () => {
      if (!isInside) return;
      isInside = false;
      this.#count -= 1;
      const left = (this.#inside.get(origin) ?? 1) - 1;
      if (left === 0) this.#inside.delete(origin);
      else this.#inside.set(origin, left);
      this.#next();
    };
  }

  #next(): void {
    const next = this.#waiting.find(({ origin }) => this.#hasRoom(origin));
    if (!next) return;
    this.#waiting = this.#waiting.filter((each) => each !== next);
    next.enter();
  }
}
