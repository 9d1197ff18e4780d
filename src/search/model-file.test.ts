import { expect, test } from "vitest";
import { parseModel } from "./model-file.ts";
import { HALF, modelFile } from "../../test/support/search/fixture.ts";

const TINY = {
  tokens: ["a", "é", "##b"],
  dimensions: 4,
  groupSize: 2,
  scales: [HALF.one, HALF.half, HALF.two, 0x0001, 0xbc00, 0x0000],
  weights: [7, -8, 0, 1, 1, 2, 3, 4, -1, -2, -3, -4],
};

function changed(change: (file: Buffer) => void): Uint8Array {
  const file = Buffer.from(modelFile(TINY));
  change(file);
  return file;
}

test("a file gives its tokens, its scales and its weights as they were packed", () => {
  const table = parseModel(modelFile(TINY));
  expect([...table.ids]).toEqual([
    ["a", 0],
    ["é", 1],
    ["##b", 2],
  ]);
  expect([...table.scales]).toEqual([1, 0.5, 2, 2 ** -24, -1, 0]);
  expect([...table.weights]).toEqual([0x0f, 0x98, 0xa9, 0xcb, 0x67, 0x45]);
});

test("a file that lies at an odd place in memory is read all the same", () => {
  const file = modelFile(TINY);
  const shifted = new Uint8Array(file.length + 1);
  shifted.set(file, 1);
  expect(parseModel(shifted.subarray(1))).toEqual(parseModel(file));
});

test.each([
  ["an empty file", () => new Uint8Array(0), /has 0 bytes, no header/],
  ["another format", () => changed((file) => file.write("GGUF")), /does not begin with PEM4/],
  ["a newer version", () => changed((file) => file.writeUInt32LE(2, 4)), /of version 2, not 1/],
  ["no tokens", () => changed((file) => file.writeUInt32LE(0, 8)), /empty table/],
  ["a group of none", () => changed((file) => file.writeUInt32LE(0, 16)), /groups of 0/],
  ["groups that do not fit", () => changed((file) => file.writeUInt32LE(6, 16)), /groups of 6/],
  ["a table cut short", () => modelFile(TINY).subarray(0, -1), /has 49 bytes, .* asks for 50/],
  ["bytes too many", () => Buffer.concat([modelFile(TINY), Buffer.alloc(1)]), /asks for 50/],
  ["sizes beyond all files", () => changed((file) => file.fill(0xff, 8, 16)), /groups|asks for/],
  ["a broken vocabulary", () => changed((file) => file.fill(0xff, 24, 25)), /not UTF-8/],
  ["a line too few", () => changed((file) => file.write("x", 25)), /2 lines .* for 3 tokens/],
  ["an endless scale", () => changed((file) => file.writeUInt16LE(0x7c00, 32)), /not a number/],
  ["a token twice", () => modelFile({ ...TINY, tokens: ["a", "b", "a"] }), /a token twice/],
])("%s is refused, and the message says why", (_, file, message) => {
  expect(() => parseModel(file())).toThrow(message);
});
