/**
 * Chance from a seed: the same seed gives the same life, on every machine. Each part of the world
 * draws from a stream of its own, so that one more draw in one part does not change all the others.
 */

export class Random {
  #a: number;
  #b: number;
  #c: number;
  #counter = 1;

  constructor(seed: number | string) {
    this.#a = hash(`${seed}/a`);
    this.#b = hash(`${seed}/b`);
    this.#c = hash(`${seed}/c`);
    for (let i = 0; i < 12; i += 1) this.#next();
  }

  /** A stream of its own, named after what draws from it. */
  fork(name: string): Random {
    return new Random(`${this.#next()}/${name}`);
  }

  /** From 0, never 1. */
  fraction(): number {
    return this.#next() / 2 ** 32;
  }

  chance(probability: number): boolean {
    return this.fraction() < probability;
  }

  /** A whole number, both ends included. */
  between(low: number, high: number): number {
    return low + Math.floor(this.fraction() * (high - low + 1));
  }

  /** Short mostly, long now and then: how the world's delays are. */
  delayMs(usualMs: number, longestMs: number): number {
    const fraction = this.fraction();
    return fraction < 0.95 ? fraction * usualMs : this.fraction() * longestMs;
  }

  pick<T>(from: readonly T[]): T {
    const picked = from[this.between(0, from.length - 1)];
    if (picked === undefined) throw new Error("nothing to pick from");
    return picked;
  }

  /** 32 hex characters, as ids are. */
  id(): string {
    return this.#eightHex() + this.#eightHex() + this.#eightHex() + this.#eightHex();
  }

  #eightHex(): string {
    return this.#next().toString(16).padStart(8, "0");
  }

  /** sfc32: small, fast, and good enough to shake a cluster. */
  #next(): number {
    const sum = (this.#a + this.#b + this.#counter) | 0;
    this.#counter = (this.#counter + 1) | 0;
    this.#a = this.#b ^ (this.#b >>> 9);
    this.#b = (this.#c + (this.#c << 3)) | 0;
    this.#c = ((this.#c << 21) | (this.#c >>> 11)) + sum;
    return sum >>> 0;
  }
}

/** FNV-1a, stirred once more: near seeds are far apart. */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let i = 0; i < text.length; i += 1) {
    value = Math.imul(value ^ text.charCodeAt(i), 0x01000193);
  }
  return Math.imul(value ^ (value >>> 15), 0x2c1b3c6d) | 0;
}
