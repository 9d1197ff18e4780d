import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readJson } from "../../core/json.ts";
import { canonical } from "./canonical.ts";

function canonicalOf(text: string): string {
  const read = readJson(text);
  if (!read.ok) throw new Error(read.problem);
  return canonical(read.value);
}

describe("the canonical form", () => {
  test("a name that occurs twice counts with its last value", () => {
    expect(canonicalOf('{"b":{"x":1,"x":2}}')).toBe('{"b":{"x":2}}');
  });

  test("__proto__ is a name like any other", () => {
    expect(canonicalOf('{"__proto__":{"admin":true}}')).toBe('{"__proto__":{"admin":true}}');
  });

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
