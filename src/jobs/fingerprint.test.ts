import { expect, test } from "vitest";
import { orderFingerprint } from "./fingerprint.ts";

test("the order of keys makes no other parameters; their values do", () => {
  const print = orderFingerprint({ a: 1, b: { c: [1, 2], d: null } });
  expect(orderFingerprint({ b: { d: null, c: [1, 2] }, a: 1 })).toBe(print);
  expect(orderFingerprint({ b: { d: null, c: [2, 1] }, a: 1 })).not.toBe(print);
  expect(orderFingerprint(JSON.parse('{"__proto__":1}'))).not.toBe(orderFingerprint({}));
});
