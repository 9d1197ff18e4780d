/** Bytes changed without knowing what they mean. */
import { pick, type Material, type Mutator } from "./target.ts";

/** No reader needs more to go wrong, and a small input says more. */
export const MAX_BYTES = 16 * 1024;

/** Where numbers overflow, texts end and signs change. */
const TELLING = [0, 1, 9, 10, 13, 32, 34, 44, 46, 47, 58, 64, 91, 92, 123, 127, 128, 191, 254, 255];
const NUMBERS = [
  0,
  1,
  127,
  128,
  255,
  256,
  16_383,
  16_384,
  65_535,
  65_536,
  2 ** 24,
  2 ** 31,
  2 ** 32 - 1,
];

const CHANGES: readonly Mutator[] = [
  flipBit,
  setByte,
  remove,
  repeat,
  insertWord,
  overwriteWord,
  insertNoise,
  splice,
  writeNumber,
  cut,
];

/** A few changes at once, one most often. */
export const mutateBytes: Mutator = (input, material) => {
  let bytes = input;
  do bytes = pick(material.random, CHANGES)(bytes, material);
  while (material.random.chance(0.5));
  return bytes.subarray(0, MAX_BYTES);
};

function placeIn(bytes: Buffer, { random }: Material): number {
  return random.between(0, bytes.length);
}

function replaced(bytes: Buffer, [from, to]: readonly [number, number], by: Buffer): Buffer {
  return Buffer.concat([bytes.subarray(0, from), by, bytes.subarray(Math.max(from, to))]);
}

function flipBit(bytes: Buffer, material: Material): Buffer {
  const at = placeIn(bytes, material);
  const flipped = (bytes[at] ?? 0) ^ (1 << material.random.between(0, 7));
  return replaced(bytes, [at, at + 1], Buffer.from([flipped]));
}

function setByte(bytes: Buffer, material: Material): Buffer {
  const { random } = material;
  const at = placeIn(bytes, material);
  const byte = random.chance(0.5) ? pick(random, TELLING) : random.between(0, 255);
  return replaced(bytes, [at, at + 1], Buffer.from([byte]));
}

function remove(bytes: Buffer, material: Material): Buffer {
  const at = placeIn(bytes, material);
  return replaced(bytes, [at, at + material.random.between(1, 8)], Buffer.alloc(0));
}

/** Once more, or many times: what is deep, long or slow begins so. */
function repeat(bytes: Buffer, material: Material): Buffer {
  const { random } = material;
  const at = placeIn(bytes, material);
  const part = bytes.subarray(at, at + random.between(1, 32));
  const times = random.chance(0.9) ? 1 : random.between(2, 2_000);
  const whole = Buffer.alloc(Math.min(MAX_BYTES, part.length * times), part);
  return part.length === 0 ? bytes : replaced(bytes, [at, at], whole);
}

function insertWord(bytes: Buffer, material: Material): Buffer {
  const at = placeIn(bytes, material);
  return replaced(bytes, [at, at], wordOf(material));
}

function overwriteWord(bytes: Buffer, material: Material): Buffer {
  const at = placeIn(bytes, material);
  const word = wordOf(material);
  return replaced(bytes, [at, at + word.length], word);
}

function wordOf({ random, words }: Material): Buffer {
  return words.length === 0 ? Buffer.from([random.between(0, 255)]) : pick(random, words);
}

function insertNoise(bytes: Buffer, material: Material): Buffer {
  const { random } = material;
  const at = placeIn(bytes, material);
  const noise = Buffer.from(
    Array.from({ length: random.between(1, 8) }, () => random.between(0, 255)),
  );
  return replaced(bytes, [at, at], noise);
}

/** The beginning of the one and the end of the other. */
function splice(bytes: Buffer, material: Material): Buffer {
  const { other } = material;
  const rest = other.subarray(placeIn(other, material));
  return replaced(bytes, [placeIn(bytes, material), bytes.length], rest);
}

function writeNumber(bytes: Buffer, material: Material): Buffer {
  const { random } = material;
  const at = placeIn(bytes, material);
  const width = random.between(1, 4);
  const number = Buffer.alloc(4);
  number.writeUInt32BE(pick(random, NUMBERS));
  return replaced(bytes, [at, at + width], number.subarray(4 - width));
}

function cut(bytes: Buffer, material: Material): Buffer {
  return bytes.subarray(0, placeIn(bytes, material));
}
