import { expect, test } from "vitest";
import { unitLength } from "./model.ts";
import { Vectors } from "./vectors.ts";

/** Of sizes that are no multiple of four, too. */
function vectorOf(slot: number, size: number): Float32Array {
  return Float32Array.from({ length: size }, (_, i) => Math.sin(slot + i));
}

test.each([3, 8])("every slot of %i dimensions has its product, across blocks", (size) => {
  const vectors = new Vectors();
  const slots = 10_000;
  for (let slot = 0; slot < slots; slot += 2) vectors.set(slot, vectorOf(slot, size));
  const query = vectorOf(42, size);
  const scores = new Float32Array(slots);
  vectors.score(query, scores);
  for (const slot of [0, 2, 4_094, 4_096, 8_192, 9_998]) {
    const product = query.reduce((sum, x, i) => sum + x * (vectorOf(slot, size)[i] ?? 0), 0);
    expect(scores[slot]).toBeCloseTo(product, 1);
    expect(scores[slot + 1]).toBe(0);
  }
});

test("slots that move take their vectors along", () => {
  const vectors = new Vectors();
  for (let slot = 0; slot < 9_000; slot += 1) vectors.set(slot, new Float32Array([slot]));
  vectors.pack(Int32Array.from({ length: 9_000 }, (_, slot) => (slot % 2 ? slot >> 1 : -1)));
  const scores = new Float32Array(4_600);
  vectors.score(new Float32Array([1]), scores);
  expect([scores[0], scores[4_095], scores[4_096], scores[4_499]]).toEqual([1, 8191, 8193, 8999]);
  expect(scores[4_500]).toBe(0);
});

test("eight bits a number are enough to tell near from nearer", () => {
  const vectors = new Vectors();
  const random = (seed: number) => unitLength(Array.from({ length: 256 }, (_, i) => wave(seed, i)));
  const wave = (seed: number, i: number) => Math.sin(seed * 12.9898 + i * 78.233) * 43_758 - 0.5;
  for (let slot = 0; slot < 500; slot += 1) vectors.set(slot, random(slot));
  const query = random(1_000);
  const scores = new Float32Array(500);
  vectors.score(query, scores);
  const errors = Array.from(scores, (score, slot) => {
    const exact = random(slot).reduce((sum, x, i) => sum + x * (query[i] ?? 0), 0);
    return Math.abs(score - exact);
  });
  expect(Math.max(...errors)).toBeLessThan(0.005);
});

test("a vector of another size is a mistake that is not passed over", () => {
  const vectors = new Vectors();
  vectors.set(0, new Float32Array(2));
  expect(() => vectors.set(1, new Float32Array(3))).toThrow("a vector of 3 among those of 2");
});
