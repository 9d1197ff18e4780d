import { array, assert, nat, property } from "fast-check";
import { expect, test } from "vitest";
import { asLine, asProse, atMost, count, invalid, key, line, prose, ttl } from "./fields.ts";
import { FIELD, TTL } from "./limits.ts";

test("a key is one line of text that is not empty", () => {
  expect(key("k", "task:überweisung/42 🙂")).toBeUndefined();
  expect(key("k", "x".repeat(FIELD.keyLength))).toBeUndefined();
  expect(key("k", "")).toBe("k is empty");
  expect(key("k", "x".repeat(FIELD.keyLength + 1))).toBe(
    "k has 257 characters, at most 256 are allowed",
  );
});

test.each(["\n", "\t", "\r", "\u0000", "\u001b", "\u007f", "\u0085", "\u2028", "\u2029"])(
  "a line holds no control character: %j",
  (char) => {
    expect(line("l", `a${char}b`, 10)).toBe("l holds a control character");
  },
);

test("prose has line breaks and tabs, and no other control characters", () => {
  expect(prose("p", "a\n\tb\r\n", 10)).toBeUndefined();
  expect(prose("p", "", 10)).toBeUndefined();
  for (const char of ["\u0000", "\u0008", "\u000b", "\u001b", "\u007f", "\u009b"]) {
    expect(prose("p", `a${char}b`, 10)).toBe("p holds a control character");
  }
  expect(prose("p", "12345678901", 10)).toBe("p has 11 characters, at most 10 are allowed");
});

test("half of a pair of surrogates is not text", () => {
  expect(line("l", "a\ud83d", 10)).toBe("l is not well-formed unicode");
  expect(prose("p", "\ude42a", 10)).toBe("p is not well-formed unicode");
});

test("what is taken comes back from the disk as it went in", () => {
  assert(
    property(array(nat(0xffff)), (units) => {
      const text = String.fromCharCode(...units);
      if (prose("p", text, 100) !== undefined) return;
      expect(Buffer.from(text, "utf8").toString("utf8")).toBe(text);
    }),
  );
});

test("a ttl is in its range, or zero for the default", () => {
  for (const ttlMs of [0, TTL.minMs, TTL.maxMs]) expect(ttl("t", ttlMs)).toBeUndefined();
  expect(ttl("t", 500)).toBe("t is 0.5 s, allowed are 1 to 86400 s");
  for (const ttlMs of [-1, TTL.maxMs + 1, Number.NaN, Infinity]) {
    expect(ttl("t", ttlMs)).toMatch(/allowed are 1 to 86400 s$/);
  }
});

test("a count is a whole number within its limit", () => {
  expect(count("c", 0, 5)).toBeUndefined();
  expect(count("c", 5, 5)).toBeUndefined();
  expect(count("c", 6, 5)).toBe("c is 6, at most 5 is allowed");
  for (const value of [-1, 0.5, Number.NaN, 2 ** 53]) {
    expect(count("c", value, Infinity)).toBe("c is not a whole number");
  }
});

test("a list has at most so many entries", () => {
  expect(atMost("l", 5, 5)).toBeUndefined();
  expect(atMost("l", 6, 5)).toBe("l has 6 entries, at most 5 are allowed");
});

test("of several problems the first is told", () => {
  expect(invalid(undefined, "second", "third")).toEqual({
    ok: false,
    code: "INVALID_ARGUMENT",
    reason: "second",
  });
  expect(invalid(undefined, undefined)).toBeUndefined();
  expect(invalid()).toBeUndefined();
});

test("text of others is made into what is allowed", () => {
  const nasty = "a\u001b[31m\u0000\n\u2028b\ud800c\u{1f600}";
  for (const maxLength of [3, 9, 12, 100]) {
    expect(line("x", asLine(nasty, maxLength), maxLength)).toBeUndefined();
    expect(prose("x", asProse(nasty, maxLength), maxLength)).toBeUndefined();
  }
  expect(asLine("plain", 100)).toBe("plain");
  expect(asProse("two\nlines", 100)).toBe("two\nlines");
});
