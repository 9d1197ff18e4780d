import { array, assert, boolean, property, string, tuple } from "fast-check";
import { expect, test } from "vitest";
import { matches, PatternIndex } from "./patterns.ts";

test.each([
  ["tool:*", "tool:read", true],
  ["tool:*", "tool:", true],
  ["tool:*", "tool", false],
  ["*", "", true],
  ["**", "anything", true],
  ["", "", true],
  ["", "a", false],
  ["a", "", false],
  ["*:read", "tool:read", true],
  ["a*b*c", "a-b-b-c", true],
  ["a*b*c", "a-c-b", false],
  ["*ab", "aab", true],
  ["a*a", "a", false],
  ["a.c", "abc", false],
  ["a*", "A", false],
  ["a*", "a*", true],
  ["*x", "*", false],
  ["*é*", "caf\u00e9s", true],
])("%s on %s: %s", (pattern, text, expected) => {
  expect(matches(pattern, text)).toBe(expected);
});

test("a pattern made to be slow is not", () => {
  const pattern = `${"*a".repeat(127)}*b`;
  expect(matches(pattern, "a".repeat(256))).toBe(false);
});

const text = string({ unit: boolean().map((isA) => (isA ? "a" : "b")), maxLength: 5 });
const pattern = array(string({ unit: boolean().map((isA) => (isA ? "a" : "b")), maxLength: 2 }), {
  minLength: 1,
  maxLength: 4,
}).map((parts) => parts.join("*"));

test("a pattern matches as the regular expression would", () => {
  assert(
    property(pattern, text, (like, on) => {
      const expression = new RegExp(`^${like.replaceAll("*", ".*")}$`, "s");
      expect(matches(like, on)).toBe(expression.test(on));
    }),
    { numRuns: 1000 },
  );
});

test("the index finds exactly the patterns that match, however they came and went", () => {
  assert(
    property(array(tuple(pattern, boolean())), array(text), (changes, texts) => {
      const index = new PatternIndex<string>();
      const model = new Set<string>();
      for (const [each, isAdded] of changes) {
        if (isAdded) {
          model.add(each);
          index.set(each, each);
        } else {
          model.delete(each);
          index.delete(each);
        }
        expect(index.get(each)).toBe(isAdded ? each : undefined);
      }
      expect(index.isEmpty).toBe(model.size === 0);
      for (const on of texts) {
        const expected = [...model].filter((each) => matches(each, on));
        expect([...index.matching(on)].toSorted()).toEqual(expected.toSorted());
      }
    }),
  );
});
