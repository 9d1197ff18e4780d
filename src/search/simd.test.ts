import * as fc from "fast-check";
import { expect, test } from "vitest";
import { newKernel, ROW_STEP } from "./simd.ts";

const [ROWS_AT, SCALES_AT, OUT_AT] = [1_024, 32_768, 49_152];

test("each product is the sum that adding up one by one gives, times the scale of its row", () => {
  const numbers = (length: number) =>
    fc.array(fc.integer({ min: -127, max: 127 }), { minLength: length, maxLength: length });
  const cases = fc
    .record({ steps: fc.integer({ min: 1, max: 4 }), count: fc.integer({ min: 0, max: 9 }) })
    .chain(({ steps, count }) =>
      fc.record({
        query: numbers(steps * ROW_STEP),
        rows: fc.array(numbers(steps * ROW_STEP), { minLength: count, maxLength: count }),
      }),
    );
  const { memory, products } = newKernel();
  const { buffer } = memory;
  fc.assert(
    fc.property(cases, ({ query, rows }) => {
      const size = query.length;
      new Int16Array(buffer, 0, size).set(query);
      for (const [i, row] of rows.entries()) {
        new Int8Array(buffer, ROWS_AT + i * size, size).set(row);
        new Float32Array(buffer, SCALES_AT, rows.length)[i] = 2 ** -i;
      }
      const out = new Float32Array(buffer, OUT_AT, rows.length + 1).fill(42);
      products(0, ROWS_AT, SCALES_AT, rows.length, size, OUT_AT);
      const expected = rows.map((row, i) => {
        const sum = row.reduce((total, value, at) => total + value * (query[at] ?? 0), 0);
        return sum * 2 ** -i;
      });
      expect([...out]).toEqual([...expected, 42].map((value) => value + 0));
    }),
  );
});

test("the longest vectors do not overflow", () => {
  const size = 8_192;
  const { memory, products } = newKernel();
  memory.grow(1);
  const [rowsAt, scalesAt, outAt] = [2 * size, 3 * size, 3 * size + 4];
  new Int16Array(memory.buffer, 0, size).fill(-127);
  new Int8Array(memory.buffer, rowsAt, size).fill(127);
  new Float32Array(memory.buffer, scalesAt, 1)[0] = 1;
  products(0, rowsAt, scalesAt, 1, size, outAt);
  const [product] = new Float32Array(memory.buffer, outAt, 1);
  expect(product).toBe(-127 * 127 * size);
});
