/**
 * How often one address may call: a bucket that fills at the rate and holds a burst. It keeps one
 * program in a loop from taking the daemon away from all others.
 */
import { RATE } from "./limits.ts";

interface Bucket {
  tokens: number;
  filledAtMs: number;
}

export interface RateLimitOptions {
  /** 0 means no limit. */
  readonly perSecond: number;
  readonly monotonicMs: () => number;
}

export class RateLimit {
  readonly #perMs: number;
  readonly #burst: number;
  readonly #monotonicMs: () => number;
  readonly #buckets = new Map<string, Bucket>();

  constructor({ perSecond, monotonicMs }: RateLimitOptions) {
    this.#perMs = perSecond / 1000;
    this.#burst = perSecond * RATE.burstSeconds;
    this.#monotonicMs = monotonicMs;
  }

  /** Takes one call from the bucket of a peer; or says how long until there is one, in ms. */
  take(peer: string): number {
    if (this.#perMs === 0) return 0;
    const nowMs = this.#monotonicMs();
    const bucket = this.#buckets.get(peer) ?? this.#add(peer, nowMs);
    const filled = bucket.tokens + (nowMs - bucket.filledAtMs) * this.#perMs;
    bucket.tokens = Math.min(this.#burst, filled);
    bucket.filledAtMs = nowMs;
    if (bucket.tokens < 1) return (1 - bucket.tokens) / this.#perMs;
    bucket.tokens -= 1;
    return 0;
  }

  #add(peer: string, nowMs: number): Bucket {
    if (this.#buckets.size >= RATE.peers) {
      for (const oldest of this.#buckets.keys()) {
        this.#buckets.delete(oldest);
        break;
      }
    }
    const bucket = { tokens: this.#burst, filledAtMs: nowMs };
    this.#buckets.set(peer, bucket);
    return bucket;
  }
}
