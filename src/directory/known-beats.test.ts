import { expect, test } from "vitest";
import { crc32 } from "node:zlib";
import { KnownBeats } from "./known-beats.ts";

const beatOf = (name: string) => ({ url: `http://${name}.example`, digest: name, intervalMs: 1 });

test("a heartbeat is found again by its bytes, and by no others", () => {
  const known = new KnownBeats(1_000);
  known.set(Buffer.from("one"), beatOf("one"));
  expect(known.get(Buffer.from("one"))).toEqual(beatOf("one"));
  expect(known.get(Buffer.from("One"))).toBeUndefined();
});

test("a body that has the checksum of another is not taken for it", () => {
  const known = new KnownBeats(1_000);
  const [first, second] = [Buffer.from("plumless"), Buffer.from("buckeroo")];
  expect(crc32(first)).toBe(crc32(second));
  known.set(first, beatOf("first"));
  expect(known.get(second)).toBeUndefined();
  known.set(second, beatOf("second"));
  expect(known.get(second)).toEqual(beatOf("second"));
  expect(known.get(first)).toBeUndefined();
});

test("the bytes kept are bounded, and the body known longest goes first", () => {
  const known = new KnownBeats(8);
  for (const name of ["aaaa", "bbbb", "bbbb", "cccc"]) known.set(Buffer.from(name), beatOf(name));
  const kept = ["aaaa", "bbbb", "cccc"].filter((name) => known.get(Buffer.from(name)));
  expect(kept).toEqual(["bbbb", "cccc"]);
});

test("what is read into the same memory later changes nothing of it", () => {
  const known = new KnownBeats(1_000);
  const memory = Buffer.from("one");
  known.set(memory, beatOf("one"));
  memory.write("two");
  expect(known.get(Buffer.from("one"))).toEqual(beatOf("one"));
  expect(known.get(Buffer.from("two"))).toBeUndefined();
});
