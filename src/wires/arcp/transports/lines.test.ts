import * as fc from "fast-check";
import { expect, test } from "vitest";
import { LineReader, type LineFault } from "./lines.ts";

function reader(maxBytes = 1024) {
  const lines: string[] = [];
  const faults: LineFault[] = [];
  const sink = {
    onLine: (line: string) => void lines.push(line),
    onFault: (fault: LineFault) => void faults.push(fault),
  };
  return { reader: new LineReader(maxBytes, sink), lines, faults };
}

test("a line may come in any pieces, also cut within a character", () => {
  const { reader: each, lines } = reader();
  for (const byte of Buffer.from('{"text":"grüße 🚀"}\n{"n":2}\n')) each.push(Buffer.of(byte));
  expect(lines).toEqual(['{"text":"grüße 🚀"}', '{"n":2}']);
});

test("blank lines are skipped, and lines may end as on Windows", () => {
  const { reader: each, lines } = reader();
  each.push(Buffer.from("\n\r\n  \n1\r\n\n2\n"));
  expect(lines).toEqual(["1", "2"]);
});

test("a line that grows beyond the limit is a fault, before its end is there", () => {
  const { reader: each, lines, faults } = reader(8);
  each.push(Buffer.from("12345678\n123456"));
  each.push(Buffer.from("789"));
  each.push(Buffer.from("\nnever\n"));
  expect([lines, faults]).toEqual([["12345678"], ["too large"]]);
});

test("what is not UTF-8 is a fault, and nothing after it is a line", () => {
  const { reader: each, lines, faults } = reader();
  each.push(Buffer.from([0xff, 0x0a, 0x31, 0x0a]));
  expect([lines, faults]).toEqual([[], ["not UTF-8"]]);
});

test("a line of a million single bytes is read in time that grows with its length", () => {
  const { reader: each, lines } = reader(1 << 20);
  const byte = Buffer.from("x");
  for (let i = 0; i < 1 << 20; i += 1) each.push(byte);
  each.push(Buffer.from("\n"));
  expect(lines[0]?.length).toBe(1 << 20);
});

test("however a stream is cut, the lines that come out are those that went in", () => {
  const line = fc.oneof(fc.json(), fc.string({ unit: "grapheme" }), fc.constant(""));
  const property = fc.property(
    fc.array(line, { maxLength: 20 }),
    fc.array(fc.nat(64), { maxLength: 200 }),
    fc.constantFrom("\n", "\r\n"),
    (texts, cuts, end) => {
      const clean = texts.map((text) => text.replace(/[\r\n]/g, " "));
      const bytes = Buffer.from(clean.map((text) => text + end).join(""));
      const { reader: each, lines, faults } = reader(1 << 20);
      let start = 0;
      for (const size of cuts) {
        each.push(bytes.subarray(start, start + size));
        start += size;
      }
      each.push(bytes.subarray(start));
      expect(lines).toEqual(clean.filter((text) => text.trim() !== ""));
      expect(faults).toEqual([]);
      expect(each.isWithinLine).toBe(false);
    },
  );
  fc.assert(property, { numRuns: 2000 });
});

test("any bytes at all give lines of valid text within the limit, or one fault", () => {
  const chunk = fc.uint8Array({ maxLength: 100 });
  const property = fc.property(fc.array(chunk, { maxLength: 50 }), (chunks) => {
    const { reader: each, lines, faults } = reader(64);
    for (const bytes of chunks) each.push(bytes);
    expect(faults.length).toBeLessThanOrEqual(1);
    for (const text of lines) {
      expect(Buffer.byteLength(text)).toBeLessThanOrEqual(64);
      expect(text).not.toContain("\n");
    }
  });
  fc.assert(property, { numRuns: 5000 });
});
