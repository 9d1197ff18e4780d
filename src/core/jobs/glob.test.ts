import { array, assert, constantFrom, property, string } from "fast-check";
import { expect, test } from "vitest";
import { coverageOf, overlap } from "./glob-subset.ts";
import { compileGlob, matchesGlob } from "./glob.ts";

function isMatch(pattern: string, text: string): boolean {
  return matchesGlob(compileGlob(pattern), text);
}

test.each([
  ["/a/*", "/a/b", true],
  ["/a/*", "/a/b/c", false],
  ["/a/*", "/a/", true],
  ["/a/**", "/a", true],
  ["/a/**", "/a/b/c", true],
  ["/a/**", "/ab", false],
  ["/a/**/z", "/a/z", true],
  ["/a/**/z", "/a/b/c/z", true],
  ["/a/**/z", "/az", false],
  ["/a/**/**/z", "/a/z", true],
  ["*", "a/b", false],
  ["**", "a/b", true],
  ["a**z", "a/b/z", true],
  ["**/z", "a/b/z", true],
  ["https://*", "https://example.com/x", false],
  ["https://**", "https://example.com/x", true],
  ["tier-fast/*", "tier-fast/a/b", false],
  ["tier-fast/*", "tier-fast/cheap", true],
  ["search.*", "search.web", true],
  ["mcp:github/*", "mcp:github/issues", true],
  ["gpt-4o-*", "gpt-4o-mini", true],
  ["a*b", "abxb", true],
  ["/a", "/A", false],
  ["", "", true],
  ["/**", "/", true],
])("%j against %j: %s", (pattern, text, matches) => {
  expect(isMatch(pattern, text)).toBe(matches);
});

// "Everything else is literal, including ?, [, ], {, }."
test.each(["a?c", "[ab]c", "{a,b}", "a.c", "a+c", "\\*x"])("%j stands for itself", (pattern) => {
  if (!pattern.includes("*")) expect(isMatch(pattern, pattern)).toBe(true);
  expect(isMatch(pattern, "abc")).toBe(false);
  expect(isMatch(pattern, "ac")).toBe(false);
});

test.each([
  ["/a/**", "/a/*", false],
  ["**", "*", false],
  ["search.web", "search.*", true],
  ["search.a*", "search.*", true],
  ["/a", "/a/**", true],
  ["a*c", "a*b*c", false],
  ["a*b*c", "a*c", true],
  ["/a/*/c", "/a/**", true],
  ["/a/**/c", "/a/**", true],
  ["/a/**", "/a/**/**", true],
  ["/a/**/**", "/a/**", true],
  ["/a/*/**", "/a/**", true],
  ["/a/**", "/a/*/**", false],
  ["***", "**", true],
  ["**", "***", true],
  ["*x*", "*", true],
])("%j within %j: %s", (inner, outer, covered) => {
  expect(coverageOf(inner, outer).covered).toBe(covered);
});

test("a no comes with a shortest text that shows why", () => {
  expect(coverageOf("/a/**", "/a/*")).toEqual({
    covered: false,
    because: "wider",
    example: "/a",
  });
  expect(coverageOf("/a/*/*", "/a/*")).toMatchObject({ example: "/a//" });
});

const ALPHABET = ["a", "b", "/"];
const LONGEST = 6;

/** Every text of the alphabet up to the longest: 1,093 of them. */
const TEXTS = texts(LONGEST);

function texts(length: number): readonly string[] {
  if (length === 0) return [""];
  const shorter = texts(length - 1);
  const longest = shorter.filter((text) => text.length === length - 1);
  return [...shorter, ...longest.flatMap((text) => ALPHABET.map((char) => text + char))];
}

/** The four sentences of the page about globs, as an expression. */
function asExpression(pattern: string): RegExp {
  const source = pattern.replaceAll(/\/\*\*(?=\/|$)|\*+|[^*]/g, (part) => {
    if (part === "/**") return "(?:/[^]*)?";
    if (part === "*") return "[^/]*";
    return part.startsWith("*") ? "[^]*" : part.replaceAll(/[$()+.?[\\\]^{|}]/g, String.raw`\$&`);
  });
  return new RegExp(`^(?:${source})$`);
}

const aPattern = array(constantFrom("a", "b", "/", "*", "**", "/**", "/**/"), {
  maxLength: 6,
}).map((parts) => parts.join(""));

test("matching agrees with an expression, for every short text", () => {
  const holds = property(aPattern, (pattern) => {
    const [glob, expression] = [compileGlob(pattern), asExpression(pattern)];
    for (const text of TEXTS) {
      if (matchesGlob(glob, text) !== expression.test(text)) throw new Error(text);
    }
  });
  assert(holds, { numRuns: 500 });
});

test("coverage agrees with brute force: a yes has no counter-example, a no shows one", () => {
  let [yes, no] = [0, 0];
  const holds = property(aPattern, aPattern, (inner, outer) => {
    const coverage = coverageOf(inner, outer);
    const [a, b] = [asExpression(inner), asExpression(outer)];
    if (coverage.covered) {
      yes += 1;
      expect(TEXTS.filter((text) => a.test(text) && !b.test(text))).toEqual([]);
      return;
    }
    no += 1;
    expect(coverage.because).toBe("wider");
    const example = "example" in coverage ? coverage.example : "";
    expect([example, a.test(example), b.test(example)]).toEqual([example, true, false]);
  });
  assert(holds, { numRuns: 4_000 });
  // Both answers were put to the test, and not by accident.
  expect(Math.min(yes, no)).toBeGreaterThan(300);
});

test("overlap agrees with brute force", () => {
  const holds = property(aPattern, aPattern, (one, other) => {
    const [a, b] = [asExpression(one), asExpression(other)];
    if (TEXTS.some((text) => a.test(text) && b.test(text))) expect(overlap(one, other)).toBe(true);
    if (overlap(one, other) === false) expect(overlap(other, one)).toBe(false);
  });
  assert(holds, { numRuns: 500 });
  expect(overlap("/a/**", "/b/**")).toBe(false);
  expect(overlap("/a/*", "/*/b")).toBe(true);
});

test("no pattern makes matching or comparing slow", () => {
  const stars = "*a".repeat(400);
  const text = "a".repeat(8_000);
  expect(isMatch(`${stars}b`, text)).toBe(false);
  const segments = "/*a*b".repeat(150);
  expect(coverageOf(segments, segments.replaceAll("a", "*")).covered).toBe(true);
  expect(coverageOf(`**${"a*".repeat(100)}`, `${"*a".repeat(100)}**`).covered).toBe(false);
});

test("patterns that keep many states at once are given up as soon as others", () => {
  const wide = "/*/*/a*".repeat(60);
  const [inner, outer] = [`/**/c${wide}`, `/**${wide}/**`];
  const tries = [1, 2, 3].map(() => {
    const before = process.cpuUsage();
    const tooComplex = { covered: false, because: "too complex" };
    expect(coverageOf(inner, outer)).toEqual(tooComplex);
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1_000;
  });
  // The collector and the compiler may run in any one of them.
  expect(Math.min(...tries)).toBeLessThan(100);
});

test("a comparison that grows beyond its bound is given up, and that is a no", () => {
  expect(coverageOf("/*a*b*", "/**b*", { left: 3 })).toEqual({
    covered: false,
    because: "too complex",
  });
});

test("patterns that begin otherwise are told apart without effort", () => {
  const effort = { left: 2 };
  const coverage = coverageOf("/home/*/x/**", "/data/**", effort);
  expect(coverage).toEqual({ covered: false, because: "wider", example: "/home//x" });
  expect(overlap("/home/**", "/data/**", effort)).toBe(false);
  expect(effort.left).toBe(0);
});

test("text of any kind is matched as it is written", () => {
  const holds = property(string({ unit: "grapheme", maxLength: 20 }), (text) => {
    if (!text.includes("*")) expect(isMatch(text, text)).toBe(true);
    expect(isMatch("**", text)).toBe(true);
  });
  assert(holds);
});
