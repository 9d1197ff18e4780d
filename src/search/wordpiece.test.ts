import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { SEARCH } from "./limits.ts";
import { WordPiece } from "./wordpiece.ts";

const TOKENS = [
  ..."a b un unread ##able ##a ##b deja vu - _ [ ] ! tokyo 東 京 naive ##te robots ok".split(" "),
  ..."α ##θ ##η 2 ##2 [PAD]".split(" "),
];
const wordPiece = new WordPiece(new Map(TOKENS.map((token, id) => [token, id])));

function pieces(text: string): string {
  return wordPiece
    .encode(text)
    .map((id) => TOKENS[id])
    .join(" ");
}

describe("a text is cut as BERT does it", () => {
  test.each([
    ["case and accents do not count", "Déjà VU", "deja vu"],
    ["an accent may come on its own", "de\u0301ja\u0300", "deja"],
    ["the longest piece wins", "unreadable", "unread ##able"],
    ["punctuation stands alone", "deja-vu_a!", "deja - vu _ a !"],
    ["quotes beyond ASCII split too", "a\u201cb", "a b"],
    ["each CJK character is a word", "a東京b", "a 東 京 b"],
    ["letters of any script have pieces", "ΑΘΗ", "α ##θ ##η"],
    ["a word with an unknown piece is dropped whole", "a unxyz b", "a b"],
    ["no piece of a dropped word is left behind", "abx a", "a"],
    ["special tokens cannot be written", "[PAD]", "[ ]"],
    ["any white space separates", "a\tb\r\na\u00a0b\u3000a\u2028b", "a b a b a b"],
    ["what cannot be seen is no letter", "ro\u200bb\u0000o\u00adts \ufffdok\u007f", "robots ok"],
    ["an unknown emoji is a word like any other", "😀 ok 👩‍👩‍👧", "ok"],
    ["half a character is nothing", "a\ud83d \udc00b", "a b"],
    ["nothing has no tokens", " \n ", ""],
  ])("%s", (_, text, expected) => {
    expect(pieces(text)).toBe(expected);
  });

  test("a word of 100 characters is looked at, one of 101 is not", () => {
    expect(wordPiece.encode(`a${"b".repeat(99)}`)).toHaveLength(100);
    expect(wordPiece.encode(`a${"b".repeat(100)}`)).toEqual([]);
  });
});

test("plain ASCII takes a shorter way to the same tokens", () => {
  const unit = fc.constantFrom(..."aAbBun -_[]!2\t\nxé".split(""), "unread", "able", "deja");
  fc.assert(
    fc.property(fc.string({ unit, maxLength: 60 }), (text) => {
      // A character that is dropped makes it take the long way.
      expect(wordPiece.encode(`${text}\u200b`)).toEqual(wordPiece.encode(text));
    }),
  );
});

test("of a megabyte only the beginning is looked at, in no time", () => {
  expect(wordPiece.encode("a ".repeat(500_000))).toHaveLength(SEARCH.textLength / 2);
  expect(wordPiece.encode(`${"x".repeat(1_000_000)} a`)).toEqual([]);
});
