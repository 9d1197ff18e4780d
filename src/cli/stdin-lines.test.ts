import { Readable } from "node:stream";
import { expect, test } from "vitest";
import { linesOf } from "./stdin-lines.ts";

async function read(...chunks: readonly string[]): Promise<readonly string[]> {
  const input = Readable.from(chunks.map((each) => Buffer.from(each)));
  const lines: string[] = [];
  for await (const line of linesOf(input, new AbortController().signal, 10)) lines.push(line);
  return lines;
}

test("lines come whole, however they were cut, and blank ones do not come", async () => {
  expect(await read("on", "e\r\n\n  \ntw", "o\nend")).toEqual(["one", "two", "end"]);
});

test("one that is too long is told as such, once, and the next is heard", async () => {
  const long = "x".repeat(8);
  expect(await read(long, long, long, "\nnext\n")).toEqual(["too long", "next"]);
  expect(await read(`${long}${long}\nnext\n`)).toEqual(["too long", "next"]);
});

test("an interruption ends it without an error", async () => {
  const abort = new AbortController();
  const input = new Readable({ read: () => undefined });
  const lines = linesOf(input, abort.signal).next();
  abort.abort();
  expect(await lines).toEqual({ done: true, value: undefined });
});
