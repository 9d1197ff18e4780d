import * as fc from "fast-check";
import { expect, test } from "vitest";
import { clean, cleanJson } from "./clean.ts";

const ESC = "\u001b";

test.each([
  ["plain text", "plain text"],
  [`${ESC}[31mred${ESC}[0m`, "red"],
  [`${ESC}[2J${ESC}[1;1Hgone`, "gone"],
  ["\u009b31mred", "red"],
  [`${ESC}]0;title\u0007text`, "text"],
  [`${ESC}]52;c;ZXZpbA==${ESC}\\text`, "text"],
  [`${ESC}]8;;http://evil${ESC}\\link${ESC}]8;;${ESC}\\`, "link"],
  [`${ESC}Pq#0${ESC}\\text`, "text"],
  [`${ESC}ctext`, "text"],
  [`text${ESC}`, "text"],
  [`text${ESC}[31`, "text"],
  ["one\r\ntwo\tthree\u2028four", "one two three four"],
  ["bell\u0007 back\b null\0 del\u007f", "bell back null del"],
  ["user\u202Etxt.exe", "usertxt.exe"],
  ["a\u2066b\u2069c\u200Ed\u061ce", "abcde"],
  ["in\u200Bvis\u2060ible\uFEFF", "invisible"],
  ["tag\u{E0041}\u{E0042}", "tag"],
  ["fill\u3164ed\u115f\uffa0", "filled"],
  ["va\ufe00ri\ufe0dant\u{e0100}s\u{e01ef}", "variants"],
  ["❤️‍🔥 می‌خواهم", "❤️‍🔥 می‌خواهم"],
  ["half \ud83d emoji", "half \ufffd emoji"],
  ["日本語 naïve 👩‍👩‍👧", "日本語 naïve 👩‍👩‍👧"],
])("%j reaches a terminal as %j", (text, shown) => {
  expect(clean(text)).toBe(shown);
});

test("a letter carries a few marks, not a tower of them", () => {
  expect(clean(`a${"\u0301".repeat(1000)}b`)).toBe(`a${"\u0301".repeat(4)}b`);
});

test("a text cannot hide in what joins and varies characters", () => {
  const bits = Array.from({ length: 1_000 }, (_, i) => (i % 3 === 0 ? "\u200c" : "\u200d"));
  expect(clean(`a${bits.join("")}b`)).toBe("a\u200c\u200db");
  const bytes = Array.from({ length: 500 }, (_, i) => String.fromCodePoint(0xe0100 + (i % 240)));
  expect(clean(`😀${bytes.join("")}`)).toBe("😀");
  expect(clean(`😀${"\ufe0f\u200d".repeat(500)}`)).toBe("😀\ufe0f\u200d");
});

test("whatever comes in, nothing that a terminal acts on goes out, and it stays one line", () => {
  const hostile = fc.string({ unit: "binary", maxLength: 50 });
  const dangerous = /[\p{Cc}\p{Cs}\u202a-\u202e\u2066-\u2069]/u;
  fc.assert(fc.property(hostile, (text) => !dangerous.test(clean(text))));
});

test("a long hostile text takes time in proportion to its length", () => {
  const text = `${ESC}]${ESC}[`.repeat(500_000);
  expect(clean(text)).toBe("");
});

test("JSON for a terminal means the same and is harmless", () => {
  const value = { text: `${ESC}[31m\u009b2J\u202E\u{E0041}😀`, list: [1, null] };
  const shown = cleanJson(value);
  expect(JSON.parse(shown)).toEqual(value);
  expect(shown).not.toMatch(/[\p{Cc}\u202e\u{E0041}]/u);
});
