import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { JSON_DEPTH, plain, readJson } from "./json.ts";

describe("reading", () => {
  test("whatever JSON there is, it is given back as it was", () => {
    fc.assert(
      fc.property(fc.json(), fc.constantFrom("", " ", "\n\t"), (text, space) => {
        const read = readJson(space + text + space);
        expect(read).toMatchObject({ ok: true, value: { text } });
        if (read.ok) expect(plain(read.value)).toEqual(JSON.parse(text));
      }),
    );
  });

  test("whatever text there is, it is JSON to us exactly where it is JSON to JavaScript", () => {
    const piece = fc.constantFrom(
      ...'{}[]:,"\\ tfn01.e+-ua'.split(""),
      "true",
      "null",
      '"a"',
      "\n",
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        const text = pieces.join("");
        let isJson = true;
        try {
          JSON.parse(text);
        } catch {
          isJson = false;
        }
        expect({ text, ok: readJson(text).ok }).toEqual({ text, ok: isJson });
      }),
      { numRuns: 2000 },
    );
  });

  test("a name that occurs twice keeps its first place and its last value, and is reported", () => {
    const read = readJson('{"a":1,"b":2,"a":3}');
    expect(read).toMatchObject({ ok: true, hasRepeatedNames: true });
    expect(readJson('{"a":{"b":1},"b":1}')).toMatchObject({ hasRepeatedNames: false });
  });

  test.each([
    ["", 0, "Expecting value"],
    ["{", 1, "Expecting property name enclosed in double quotes"],
    ['{"a":1,}', 7, "Expecting property name enclosed in double quotes"],
    ['{"a" 1}', 5, "Expecting ':' delimiter"],
    ['{"a":1 "b":2}', 7, "Expecting ',' delimiter"],
    ["[1", 2, "Expecting ',' delimiter"],
    ['["a', 1, "Unterminated string starting at"],
    ['{"a":"\u0001"}', 6, "Invalid control character at"],
    ['"\\x"', 1, "Invalid \\escape"],
    ["1 2", 2, "Extra data"],
    ["NaN", 0, "Expecting value"],
    ["1e400", 0, "Number out of range"],
    ['"\\ud800"', 0, "Half a character in"],
  ])("%s is wrong at %i: %s", (text, at, problem) => {
    expect(readJson(text)).toEqual({ ok: false, at, problem });
  });

  test("a nest is refused before it is too deep for us", () => {
    const nest = (depth: number): string => "[".repeat(depth) + "]".repeat(depth);
    expect(readJson(nest(JSON_DEPTH + 1))).toMatchObject({ ok: true });
    expect(readJson(nest(JSON_DEPTH + 2))).toMatchObject({ ok: false });
    expect(readJson("[".repeat(200_000))).toMatchObject({ ok: false });
  });
});
