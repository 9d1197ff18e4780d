import { expect, test } from "vitest";
import { Lines } from "./lines.ts";

const LIMITS = { wholeBytes: 10, headBytes: 4 };

function read(lines: Lines, text: string | Buffer): readonly string[] {
  return [...lines.take(Buffer.from(text))].map(({ bytes, isCut }) => {
    return `${bytes.toString()}${isCut ? "…" : ""}`;
  });
}

test("lines are whole, however the bytes came", () => {
  const lines = new Lines(LIMITS);
  const bytes = Buffer.from("é\nzwölf\n");
  const found = [...bytes].flatMap((byte) => read(lines, Buffer.from([byte])));
  expect(found).toEqual(["é", "zwölf"]);
});

test("several lines in one chunk are told one by one; empty ones are none", () => {
  expect(read(new Lines(LIMITS), "a\n\nb\nc")).toEqual(["a", "b"]);
});

test("what has no newline at the end is the rest", () => {
  const lines = new Lines(LIMITS);
  expect(read(lines, "a\nb")).toEqual(["a"]);
  expect(lines.rest()?.bytes.toString()).toBe("b");
  expect(lines.rest()).toBeUndefined();
});

test("a line that is too long is told by its beginning, and the next is whole again", () => {
  const lines = new Lines(LIMITS);
  expect(read(lines, "0123456")).toEqual([]);
  expect(read(lines, "789abcdef")).toEqual([]);
  expect(read(lines, "ghi\nnext\n")).toEqual(["0123…", "next"]);
});

test("after a gap the rest of the broken line is passed over", () => {
  const lines = new Lines(LIMITS);
  expect(read(lines, "begin")).toEqual([]);
  lines.gap();
  expect(read(lines, "the end of another\nwhole\n")).toEqual(["whole"]);
});
