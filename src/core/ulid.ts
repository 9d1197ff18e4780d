/**
 * Ids that sort by the time they were made: 48 bits of milliseconds and 80 of chance, written in
 * 26 characters of Crockford's alphabet.
 *
 * Within one millisecond, and while a clock runs backwards, the next id is the last one plus one:
 * a maker never gives an id twice and each sorts after all before. The price is that the next one
 * can be guessed, so an id is never a secret.
 *
 * A new id is a cached beginning and four looked-up pairs of characters; chance is asked for once
 * a millisecond.
 */
const ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/** All pairs of characters: ten bits each. */
const PAIRS: readonly string[] = Array.from(
  { length: 1024 },
  (_, bits) => ALPHABET.charAt(bits >> 5) + ALPHABET.charAt(bits & 31),
);

const HALF = 2 ** 40;
const MAX_MS = 2 ** 48 - 1;
const ULID = /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/;

export interface UlidSource {
  nowMs(): number;
  /** Fills it with chance that nobody can foresee. */
  fillRandom(bytes: Uint8Array): void;
}

/** A maker of ids; each is greater than the one before. */
export function ulids(source: UlidSource): () => string {
  const random = new Uint8Array(10);
  let lastMs = -1;
  let high = 0;
  let low = 0;
  let beginning = "";
  return () => {
    const nowMs = Math.min(Math.max(0, Math.floor(source.nowMs())), MAX_MS);
    low += 1;
    if (nowMs > lastMs) {
      lastMs = nowMs;
      source.fillRandom(random);
      // The top bit stays free, so that counting on within a millisecond cannot run over.
      high = fortyBits(random, 0) % (HALF / 2);
      low = fortyBits(random, 5);
      beginning = timeText(lastMs) + halfText(high);
    } else if (low === HALF) {
      low = 0;
      high += 1;
      beginning = timeText(lastMs) + halfText(high);
    }
    return beginning + halfText(low);
  };
}

export function isUlid(text: string): boolean {
  return ULID.test(text);
}

/** When an id was made, in milliseconds; undefined for what is no id. */
export function ulidTime(ulid: string): number | undefined {
  if (!isUlid(ulid)) return undefined;
  let ms = 0;
  for (const char of ulid.slice(0, 10)) ms = ms * 32 + ALPHABET.indexOf(char);
  return ms;
}

function fortyBits(bytes: Uint8Array, at: number): number {
  let bits = 0;
  for (let i = at; i < at + 5; i += 1) bits = bits * 256 + (bytes[i] ?? 0);
  return bits;
}

function timeText(ms: number): string {
  const top = Math.floor(ms / HALF);
  return pair(top) + halfText(ms - top * HALF);
}

/** Forty bits as eight characters. */
function halfText(bits: number): string {
  const upper = Math.floor(bits / 2 ** 20);
  const lower = bits - upper * 2 ** 20;
  return pair(upper >> 10) + pair(upper & 1023) + pair(lower >> 10) + pair(lower & 1023);
}

function pair(bits: number): string {
  return PAIRS[bits] ?? "";
}

/**
 * The id of the n-th thing that belongs to what has this id: the same for the same, and never that
 * of another. Its time is that of the owner, its chance the owner's last digits and the number.
 */
export function memberId(owner: string, number: number): string {
  return owner.slice(0, 10) + owner.slice(18) + halfText(number);
}
