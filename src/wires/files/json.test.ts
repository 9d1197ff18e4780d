import * as fc from "fast-check";
import { expect, test } from "vitest";
import { readStatusJson, withPlainNumbers } from "./json-read.ts";
import { inCodePointOrder, jsonText } from "./json-text.ts";

/** A text, read and written again, by both programs. */
function again(text: string): string {
  const read = readStatusJson(text);
  return read.ok ? jsonText(read.value) : read.problem;
}

test.each([
  ["", "Expecting value: line 1 column 1 (char 0)"],
  ["{", "Expecting property name enclosed in double quotes: line 1 column 2 (char 1)"],
  ["{\n  'a': 1}", "Expecting property name enclosed in double quotes: line 2 column 3 (char 4)"],
  ['{"a" 1}', "Expecting ':' delimiter: line 1 column 6 (char 5)"],
  ['{"a": }', "Expecting value: line 1 column 7 (char 6)"],
  ['{"a": 1 "b": 2}', "Expecting ',' delimiter: line 1 column 9 (char 8)"],
  ["[1,]", "Expecting value: line 1 column 4 (char 3)"],
  ["1 2", "Extra data: line 1 column 3 (char 2)"],
  ["01", "Extra data: line 1 column 2 (char 1)"],
  ["-x", "Expecting value: line 1 column 1 (char 0)"],
  ['"abc', "Unterminated string starting at: line 1 column 1 (char 0)"],
  ['"a\nb"', "Invalid control character at: line 1 column 3 (char 2)"],
  ['"a\\xb"', "Invalid \\escape: line 1 column 3 (char 2)"],
  ['"\\u12g4"', "Invalid \\uXXXX escape: line 1 column 3 (char 2)"],
  ["\ufeff{}", "Unexpected UTF-8 BOM (decode using utf-8-sig): line 1 column 1 (char 0)"],
  ['["😀😀", x]', "Expecting value: line 1 column 8 (char 7)"],
  ["[1,\r\n x]", "Expecting value: line 2 column 2 (char 5)"],
])("%j is no JSON, and the place is named", (text, problem) => {
  expect(again(text)).toBe(problem);
});

test.each([
  ["12345678901234567890", "12345678901234567890"],
  ["1.0", "1.0"],
  ["1e5", "100000.0"],
  ["1e16", "1e+16"],
  ["0.00001", "1e-05"],
  ["-0", "0"],
  ["-0.0", "-0.0"],
  ["NaN", "NaN"],
  ["-Infinity", "-Infinity"],
])("the number %s keeps what it is: %s", (text, written) => {
  expect(again(text)).toBe(written);
});

test("keys are in the order of their characters, and all of it is ASCII", () => {
  expect(jsonText({ b: [], a: { "\u{1f600}": 1, "\uffee": "é\u007f\u001b" }, c: {} })).toBe(
    [
      "{",
      '  "a": {',
      String.raw`    "\uffee": "\u00e9\u007f\u001b",`,
      String.raw`    "\ud83d\ude00": 1`,
      "  },",
      '  "b": [],',
      '  "c": {}',
      "}",
    ].join("\n"),
  );
});

test.each([
  ["a function", { x_meta: { f: () => 1 } }, "x_meta.f is no JSON value"],
  ["not a number", { x_meta: { n: [NaN] } }, "x_meta.n[0] is no JSON value"],
])("%s is refused by its name", (_, value, message) => {
  expect(() => jsonText(value)).toThrow(message);
});

test("what lies too deep is refused in both directions, without a stack overflow", () => {
  const deep = "[".repeat(100_000) + "]".repeat(100_000);
  expect(again(deep)).toContain("Nested more than 64 levels deep: line 1");
  let value: unknown = 1;
  for (let i = 0; i < 100_000; i += 1) value = [value];
  expect(() => jsonText({ x_meta: value })).toThrow("levels deep");
});

test("whatever is not too deep to be read is not too deep to be written", () => {
  for (const depth of [1, 63, 64, 65, 66, 67]) {
    const text = "[".repeat(depth) + "]".repeat(depth);
    const read = readStatusJson(text);
    if (read.ok) expect(jsonText(read.value).replaceAll(/\s/g, "")).toBe(text);
    else expect(() => jsonText(JSON.parse(text))).toThrow("levels deep");
  }
});

test("whatever JSON says, it says the same when it was read and written", () => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 5 }), (text) => {
      const read = readStatusJson(text);
      const plain: unknown = JSON.parse(text);
      expect(read.ok && withPlainNumbers(read.value)).toEqual(plain);
      expect(JSON.parse(read.ok ? jsonText(read.value) : "")).toEqual(plain);
    }),
  );
});

test("it accepts what JSON.parse accepts, and of the rest only NaN and Infinity", () => {
  const unit = fc.constantFrom(...'{}[]",:\\ \n01-.eEnulltrue'.split(""));
  fc.assert(
    fc.property(
      fc.string({ unit, maxLength: 12 }),
      (text) => readStatusJson(text).ok === parses(text),
    ),
    { numRuns: 2000 },
  );
});

function parses(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

test.each([
  [
    ["b", "a", "A", "é"],
    ["A", "a", "b", "é"],
  ],
  [
    ["\u{1f600}", "\uffee", "z"],
    ["z", "\uffee", "\u{1f600}"],
  ],
])("%j is sorted as the peer does: by code points", (given, expected) => {
  expect(inCodePointOrder(given)).toEqual(expected);
});
