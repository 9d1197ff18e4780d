/**
 * How often each of many callers may do something: a token bucket each, which fills at the rate and
 * holds a burst. It keeps one caller in a loop from using up what is there for all.
 */
import { RATE } from "./limits.ts";

interface Bucket {
  tokens: number;
  filledAtMs: number;
}

export class Rate {
  readonly #perMs: number;
  readonly #burst: number;
  readonly #buckets = new Map<string, Bucket>();

  /** A rate of 0 means no limit. */
  constructor(perSecond: number, burst: number = perSecond * RATE.burstSeconds) {
    this.#perMs = perSecond / 1000;
    this.#burst = burst;
  }

  /** Takes one, or so many; false when there are fewer, and then none is taken. */
  take(caller: string, nowMs: number, amount = 1): boolean {
    if (this.#perMs === 0) return true;
    const bucket = this.#filled(caller, nowMs);
    if (bucket.tokens < amount) return false;
    bucket.tokens -= amount;
    return true;
  }

  has(caller: string, nowMs: number): boolean {
    return this.waitMs(caller, nowMs) === 0;
  }

  /** How long until there is one. */
  waitMs(caller: string, nowMs: number): number {
    if (this.#perMs === 0) return 0;
    return Math.max(0, 1 - this.#filled(caller, nowMs).tokens) / this.#perMs;
  }

  #filled(caller: string, nowMs: number): Bucket {
    const bucket = this.#buckets.get(caller) ?? this.#add(caller, nowMs);
    const tokens = bucket.tokens + (nowMs - bucket.filledAtMs) * this.#perMs;
    bucket.tokens = Math.min(this.#burst, tokens);
    bucket.filledAtMs = nowMs;
    return bucket;
  }

  #add(caller: string, nowMs: number): Bucket {
    if (this.#buckets.size >= RATE.callers) {
      for (const oldest of this.#buckets.keys()) {
        this.#buckets.delete(oldest);
        break;
      }
    }
    const bucket = { tokens: this.#burst, filledAtMs: nowMs };
    this.#buckets.set(caller, bucket);
    return bucket;
  }
}
