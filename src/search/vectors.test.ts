import { expect, test } from "vitest";
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
  const scores = new Float32Array(slots).fill(1);
  vectors.score(query, scores);
  for (const slot of [0, 2, 4_094, 4_096, 8_192, 9_998]) {
    const product = query.reduce((sum, x, i) => sum + x * (vectorOf(slot, size)[i] ?? 0), 0);
    expect(scores[slot]).toBeCloseTo(1 + product, 5);
    expect(scores[slot + 1]).toBe(1);
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

test("a vector of another size is a mistake that is not passed over", () => {
  const vectors = new Vectors();
  vectors.set(0, new Float32Array(2));
  expect(() => vectors.set(1, new Float32Array(3))).toThrow("a vector of 3 among those of 2");
});
