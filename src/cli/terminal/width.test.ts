import { expect, test } from "vitest";
import { hanging, padEnd, padStart, truncate, truncateStart, widthOf } from "./width.ts";

test.each([
  ["", 0],
  ["plain", 5],
  ["naïve", 5],
  ["nai\u0308ve", 5],
  ["日本語", 6],
  ["한국", 4],
  ["ｆｕｌｌ", 8],
  ["😀", 2],
  ["👩‍👩‍👧", 2],
  ["🇩🇪", 2],
  ["❤️", 2],
  ["→ ok ✓", 6],
])("%s takes %i columns", (text, columns) => {
  expect(widthOf(text)).toBe(columns);
});

test.each([
  ["fits", 4, "fits"],
  ["too long", 4, "too…"],
  ["日本語", 5, "日本…"],
  ["日本語", 4, "日…"],
  ["👩‍👩‍👧👩‍👩‍👧", 3, "👩‍👩‍👧…"],
  ["any", 0, ""],
  ["any", Infinity, "any"],
])("%s in %d columns is %s", (text, columns, shown) => {
  expect(truncate(text, columns)).toBe(shown);
});

test.each([
  ["fits", 4, "fits"],
  ["/src/shop", 5, "…shop"],
  ["日本語", 5, "…本語"],
  ["日本語", 4, "…語"],
  ["x👩‍👩‍👧", 2, "…"],
  ["any", 0, ""],
  ["any", Infinity, "any"],
])("the end of %s in %d columns is %s", (text, columns, shown) => {
  expect(truncateStart(text, columns)).toBe(shown);
});

test("cutting a very long text does not look at all of it", () => {
  expect(widthOf(truncate("日".repeat(1_000_000), 80))).toBeLessThanOrEqual(80);
});

test("columns line up whatever is in them", () => {
  expect([padEnd("日本", 6), padStart("日本", 6), padEnd("too long", 3)]).toEqual([
    "日本  ",
    "  日本",
    "too long",
  ]);
});

test("a text goes on below where it began", () => {
  expect(hanging("one two three, and then some more of them", 10, 45)).toBe(
    `one two three, and then some more\n${" ".repeat(10)}of them`,
  );
});
