/**
 * How many fetches run at once, in all and from one origin. The others wait in order; one whose
 * origin is busy lets later ones pass.
 */
import type { FetchLimits } from "./limits.ts";

interface QueuedFetch {
  readonly origin: string;
  readonly enter: () => void;
}

export type Leave = () => void;

export class FetchQueue {
  readonly #limits: FetchLimits;
  readonly #byOrigin = new Map<string, number>();
  #count = 0;
  #waiting: readonly QueuedFetch[] = [];

  constructor(limits: FetchLimits) {
    this.#limits = limits;
  }

  get running(): number {
    return this.#count;
  }

  /** Undefined where too many wait already, or the signal aborts first. */
  async enter(origin: string, signal: AbortSignal): Promise<Leave | undefined> {
    if (signal.aborted) return undefined;
    if (this.#hasRoom(origin)) return this.#let(origin);
    if (this.#waiting.length >= this.#limits.waiting) return undefined;
    return new Promise((resolve) => {
      const waiting: QueuedFetch = {
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
    return this.#count < atOnce && (this.#byOrigin.get(origin) ?? 0) < atOncePerOrigin;
  }

  #let(origin: string): Leave {
    this.#count += 1;
    this.#byOrigin.set(origin, (this.#byOrigin.get(origin) ?? 0) + 1);
    let isInside = true;
    return () => {
      if (!isInside) return;
      isInside = false;
      this.#count -= 1;
      const left = (this.#byOrigin.get(origin) ?? 1) - 1;
      if (left === 0) this.#byOrigin.delete(origin);
      else this.#byOrigin.set(origin, left);
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
