/** Writes DER, the bytes of ASN.1: each value is its tag, its length and its content. */

export const TAG = {
  boolean: 0x01,
  integer: 0x02,
  bits: 0x03,
  bytes: 0x04,
  utf8: 0x0c,
  utcTime: 0x17,
  generalizedTime: 0x18,
  sequence: 0x30,
  set: 0x31,
} as const;

/** A tag that the surrounding type gives its own meaning; `inner` is itself made of values. */
export function contextTag(number: number, kind: "plain" | "inner"): number {
  return (kind === "inner" ? 0xa0 : 0x80) | number;
}

export function der(tag: number, ...content: readonly Uint8Array[]): Buffer {
  const body = Buffer.concat(content);
  return Buffer.concat([Buffer.from([tag, ...lengthOf(body.length)]), body]);
}

export function sequence(...content: readonly Uint8Array[]): Buffer {
  return der(TAG.sequence, ...content);
}

/** Bits in whole bytes, but for those at the end that are not used. */
export function bits(bytes: Uint8Array, unused = 0): Buffer {
  return der(TAG.bits, Buffer.from([unused]), bytes);
}

/**
 * The first bit is the sign, so a number that begins with a 1 has a zero byte before it; no other
 * has one, or readers refuse it.
 */
export function positive(bytes: Uint8Array): Buffer {
  const first = bytes.findIndex((byte) => byte !== 0);
  const shortest = first < 0 ? new Uint8Array(1) : bytes.subarray(first);
  return der(TAG.integer, Buffer.from((shortest[0] ?? 0) & 0x80 ? [0] : []), shortest);
}

/** Years from 2050 have their own type. */
export function time(ms: number): Buffer {
  const digits = new Date(ms).toISOString().replaceAll(/\.\d+|\D/g, "");
  const isLate = Number(digits.slice(0, 4)) >= 2050;
  const text = Buffer.from(`${isLate ? digits : digits.slice(2)}Z`);
  return der(isLate ? TAG.generalizedTime : TAG.utcTime, text);
}

function lengthOf(length: number): readonly number[] {
  if (length < 0x80) return [length];
  const bytes = length < 0x100 ? [length] : [length >> 8, length & 0xff];
  return [0x80 | bytes.length, ...bytes];
}
