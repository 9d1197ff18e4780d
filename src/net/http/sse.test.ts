import { expect, test } from "vitest";
import { codeOf } from "../../core/errors.ts";
import { SseParser, type SseMessage } from "./sse.ts";

const STREAM =
  "\uFEFFretry: 1500\n\n: a comment\r\nid: 7\r\nevent: lease.acquired\r\n" +
  'data: {"a":\rdata: "ü😀"}\n\n' +
  "data\n\nevent: lonely\n\nid: 8\ndata:x\n\n";

const MESSAGES: readonly SseMessage[] = [
  { id: "7", event: "lease.acquired", data: '{"a":\n"ü😀"}' },
  { id: "7", event: "message", data: "" },
  { id: "8", event: "message", data: "x" },
];

function parse(pieces: readonly Buffer[], parser = new SseParser()): readonly SseMessage[] {
  return pieces.flatMap((piece) => parser.push(piece));
}

test("a stream means the same however it is cut, in the middle of a character too", () => {
  const bytes = Buffer.from(STREAM);
  for (let size = 1; size <= bytes.length; size++) {
    const count = Math.ceil(bytes.length / size);
    const pieces = Array.from({ length: count }, (_, i) =>
      bytes.subarray(i * size, (i + 1) * size),
    );
    expect({ size, messages: parse(pieces) }).toEqual({ size, messages: MESSAGES });
  }
});

test("the server's word on when to come back is kept", () => {
  const parser = new SseParser();
  parse([Buffer.from("retry: 250\nretry: soon\n\n")], parser);
  expect(parser.retryMs).toBe(250);
});

test("an id with a zero in it is not an id", () => {
  expect(parse([Buffer.from("id: 1\nid: 2\0\ndata: x\n\n")])).toEqual([
    { id: "1", event: "message", data: "x" },
  ]);
});

test("a line that never ends is refused, not kept", () => {
  const parser = new SseParser(100);
  const push = () =>
    parse(
      Array.from({ length: 11 }, () => Buffer.alloc(10, "x")),
      parser,
    );
  expect(codeOfThrown(push)).toBe("TOO_LARGE");
});

test("an event that never ends is refused, not kept", () => {
  const parser = new SseParser(1000);
  const push = () =>
    parse(
      Array.from({ length: 100 }, () => Buffer.from("data: 1234567890\n")),
      parser,
    );
  expect(codeOfThrown(push)).toBe("TOO_LARGE");
});

test("an event that comes whole and is too long is refused too", () => {
  const parser = new SseParser(100);
  const event = Buffer.from(`data: ${"x".repeat(101)}\n\n`);
  expect(codeOfThrown(() => parser.push(event))).toBe("TOO_LARGE");
});

test("a byte order mark at the start is no part of the first field", () => {
  expect(parse([Buffer.from("\uFEFFdata: x\n\n")])).toEqual([
    { id: "", event: "message", data: "x" },
  ]);
});

function codeOfThrown(act: () => unknown): string {
  try {
    act();
  } catch (error) {
    return codeOf(error);
  }
  return "nothing was thrown";
}
