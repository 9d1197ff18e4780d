import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { canonical } from "./canonical.ts";
import { plain, readJson } from "./json.ts";
import { CARD } from "../../core/card-limits.ts";

function canonicalOf(text: string): string {
  const read = readJson(text);
  if (!read.ok) throw new Error(read.problem);
  return canonical(read.value);
}

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
    expect(canonicalOf('{"b":{"x":1,"x":2}}')).toBe('{"b":{"x":2}}');
    expect(readJson('{"a":{"b":1},"b":1}')).toMatchObject({ hasRepeatedNames: false });
  });

  test("__proto__ is a name like any other", () => {
    expect(canonicalOf('{"__proto__":{"admin":true}}')).toBe('{"__proto__":{"admin":true}}');
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
    expect(readJson(nest(CARD.depth + 1))).toMatchObject({ ok: true });
    expect(readJson(nest(CARD.depth + 2))).toMatchObject({ ok: false });
    expect(readJson("[".repeat(200_000))).toMatchObject({ ok: false });
  });
});

describe("the canonical form", () => {
  // RFC 8785, 3.2.2: the sample and its result.
  test("is that of the RFC for its own sample", () => {
    const sample = String.raw`{
      "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
      "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
      "literals": [null, true, false]
    }`;
    expect(canonicalOf(sample)).toBe(
      '{"literals":[null,true,false],' +
        '"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],' +
        String.raw`"string":"€$\u000f\nA'B\"\\\\\"/"}`,
    );
  });

  // RFC 8785, 3.2.3: names are sorted by their UTF-16 code units.
  test("sorts names by their UTF-16 units", () => {
    const sample = '{"\u20ac":1,"\\r":2,"\ufb33":3,"1":4,"\u{1f600}":5,"\u0080":6,"\u00f6":7}';
    expect(canonicalOf(sample)).toBe(
      '{"\\r":2,"1":4,"\u0080":6,"\u00f6":7,"\u20ac":1,"\u{1f600}":5,"\ufb33":3}',
    );
  });

  // RFC 8785, appendix B.
  test.each([
    ["-0", "0"],
    ["5e-324", "5e-324"],
    ["-1.7976931348623157e308", "-1.7976931348623157e+308"],
    ["9007199254740992", "9007199254740992"],
    ["295147905179352830000", "295147905179352830000"],
    ["9.999999999999997e22", "9.999999999999997e+22"],
    ["1e+23", "1e+23"],
    ["999999999999999700000", "999999999999999700000"],
    ["333333333.33333325", "333333333.33333325"],
    ["0.0000033333333333333333", "0.0000033333333333333333"],
    ["1424953923781206.25", "1424953923781206.2"],
  ])("writes the number %s as %s", (text, expected) => {
    expect(canonicalOf(text)).toBe(expected);
  });

  test("is the same for all ways to write the same", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const spread = JSON.stringify(value, null, 2);
        expect(canonicalOf(spread)).toBe(canonicalOf(JSON.stringify(value)));
        expect(JSON.parse(canonicalOf(spread))).toEqual(JSON.parse(spread));
      }),
    );
  });
});
