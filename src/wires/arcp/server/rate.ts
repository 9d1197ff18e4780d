/** How often somebody may do something: a bucket each, that fills at the rate and holds a burst. */
interface Bucket {
  tokens: number;
  filledAtMs: number;
}

/** Buckets kept; a full one says nothing, so the oldest may go. */
const MOST = 10_000;

export class Rate {
  readonly #perMs: number;
  readonly #burst: number;
  readonly #buckets = new Map<string, Bucket>();

  constructor(perSecond: number, burst: number) {
    this.#perMs = perSecond / 1000;
    this.#burst = burst;
  }

  /** Takes one; false when there is none. */
  take(who: string, nowMs: number): boolean {
    if (!this.has(who, nowMs)) return false;
    const bucket = this.#buckets.get(who);
    if (bucket) bucket.tokens -= 1;
    return true;
  }

  /** Whether there is one. */
  has(who: string, nowMs: number): boolean {
    if (this.#perMs === 0) return true;
    const bucket = this.#buckets.get(who) ?? this.#add(who, nowMs);
    const filled = bucket.tokens + (nowMs - bucket.filledAtMs) * this.#perMs;
    bucket.tokens = Math.min(this.#burst, filled);
    bucket.filledAtMs = nowMs;
    return bucket.tokens >= 1;
  }

  #add(who: string, nowMs: number): Bucket {
    if (this.#buckets.size >= MOST) {
      for (const oldest of this.#buckets.keys()) {
        this.#buckets.delete(oldest);
        break;
      }
    }
    const bucket = { tokens: this.#burst, filledAtMs: nowMs };
    this.#buckets.set(who, bucket);
    return bucket;
  }
}
