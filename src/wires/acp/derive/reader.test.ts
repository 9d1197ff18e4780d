import * as fc from "fast-check";
import { expect, test } from "vitest";
import { readFrame, type AcpFrame } from "./frames.ts";
import { INSPECT } from "./limits.ts";
import { AcpLineReader } from "./reader.ts";
import { MIB } from "../../../core/units.ts";

test("lines may be split anywhere, end in CRLF, be blank, and the last may lack its end", () => {
  const bytes = Buffer.from('{"id":1,"result":"é😀"}\r\n\n\r\n{"method":"x","params":{}}');
  for (let size = 1; size < bytes.length; size++) {
    expect(readIn(bytes, size)).toEqual([
      { kind: "result", id: 1, result: "é😀" },
      { kind: "notification", method: "x", params: {} },
    ]);
  }
});

test.each([
  ["text", "Welcome to my agent!"],
  ["an array, which JSON-RPC calls a batch", '[{"id":1,"result":1}]'],
  ["half a message", '{"id":1,'],
  ["a number", "12"],
  ["a request with an id of null", '{"id":null,"method":"x"}'],
  ["a request with an id of another type", '{"id":{},"method":"x"}'],
  ["an answer with nothing in it", '{"id":1}'],
  ["bytes that are not UTF-8", Buffer.from([0xff, 0xfe, 0xc3, 0x28])],
])("%s is no frame", (_what, line) => {
  expect(new AcpLineReader().push(Buffer.concat([Buffer.from(line), Buffer.from("\n")]))).toEqual(
    [],
  );
});

test("an error without an id is one, since it says that the other side did not understand", () => {
  const [frame] = new AcpLineReader().push(Buffer.from('{"id":null,"error":{"code":-32601}}\n'));
  expect(frame).toEqual({ kind: "error", id: null, error: { code: -32601 } });
});

test("a line that is too long is not read, none of it is held, and it is counted", () => {
  const content = "x".repeat(INSPECT.lineBytes);
  const line = Buffer.from(`{"id":1,"result":"${content}"}\n{"id":2,"result":null}\n`);
  for (const size of [64 * 1024, line.length]) {
    const reader = new AcpLineReader();
    const frames = pushIn(reader, line, size);
    expect(frames).toEqual([{ kind: "result", id: 2, result: null }]);
    expect(reader.unread).toBe(1);
  }
});

test("a long line is understood after any number of small contents", () => {
  const entries = '{"a":1},'.repeat(20_000);
  const line =
    `{"params":{"update":{"content":[${entries}1],"rawOutput":[${"1,".repeat(50_000)}1],` +
    `"status":"completed"},"list":[${"2,".repeat(5000)}2],"sessionId":"S"},"method":"m"}\n`;
  expect(readIn(Buffer.from(line), 5000)).toMatchObject([
    { method: "m", params: { sessionId: "S", update: { status: "completed" } } },
  ]);
});

test("a long answer is understood, also when its id comes last", () => {
  const line = `{"result":{"data":"${"A".repeat(MIB)}"},"id":"last"}\n`;
  expect(readIn(Buffer.from(line), 1000)).toMatchObject([{ kind: "result", id: "last" }]);
});

test("__proto__ is a field like any other", () => {
  const line = `{"__proto__":{"method":"evil"},"id":1}\n`;
  expect(new AcpLineReader().push(Buffer.from(line))).toEqual([]);
  expect(readFrame(JSON.parse('{"__proto__":{"method":"evil"},"id":1}'))).toBeUndefined();
});

test("random bytes never throw, and the reader goes on after them", () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 400 })), (chunks) => {
      const reader = new AcpLineReader();
      for (const chunk of chunks) reader.push(chunk);
      reader.push(Buffer.from("\n"));
      expect(reader.push(Buffer.from('{"id":1,"result":1}\n'))).toHaveLength(1);
    }),
  );
});

function readIn(bytes: Uint8Array, size: number): readonly AcpFrame[] {
  const reader = new AcpLineReader();
  return [...pushIn(reader, bytes, size), ...reader.finish()];
}

function pushIn(reader: AcpLineReader, bytes: Uint8Array, size: number): readonly AcpFrame[] {
  const frames: AcpFrame[] = [];
  for (let at = 0; at < bytes.length; at += size) {
    frames.push(...reader.push(bytes.subarray(at, at + size)));
  }
  return frames;
}
