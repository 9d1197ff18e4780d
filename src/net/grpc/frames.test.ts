import * as fc from "fast-check";
import { expect, test } from "vitest";
import { framed, FrameReader } from "./frames.ts";

test("messages come out as they went in, wherever the bytes are cut", () => {
  const messages = fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 8 });
  const cuts = fc.array(fc.nat(), { maxLength: 20 });
  fc.assert(
    fc.property(messages, cuts, (sent, at) => {
      const bytes = Buffer.concat(sent.map(framed));
      const places = [...at.map((cut) => cut % (bytes.length + 1)), bytes.length];
      const reader = new FrameReader(40);
      const received: Buffer[] = [];
      let from = 0;
      for (const to of places.toSorted((a, b) => a - b)) {
        received.push(...reader.push(bytes.subarray(from, to)));
        from = to;
      }
      expect(received.map((each) => [...each])).toEqual(sent.map((each) => [...each]));
      expect(reader.isBetweenMessages).toBe(true);
    }),
  );
});

test("a message that is too long is refused by its prefix, before it has come", () => {
  const reader = new FrameReader(10);
  expect(() => reader.push(framed(Buffer.alloc(11)).subarray(0, 5))).toThrow(
    expect.objectContaining({ code: "TOO_LARGE" }),
  );
});

test("a compressed message is refused", () => {
  const frame = framed(Buffer.from("x"));
  frame[0] = 1;
  expect(() => new FrameReader(10).push(frame)).toThrow(
    expect.objectContaining({ code: "UNIMPLEMENTED" }),
  );
});

test("half a message is told from none", () => {
  const reader = new FrameReader(10);
  reader.push(framed(Buffer.from("abc")).subarray(0, 7));
  expect(reader.isBetweenMessages).toBe(false);
});
