import * as fc from "fast-check";
import { expect, test } from "vitest";
import { readFrame, type Frame } from "./frames.ts";
import { INSPECT } from "./limits.ts";
import { FrameReader } from "./reader.ts";
import { Skimmer } from "./skim.ts";

const MIB = 1024 * 1024;

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
  expect(new FrameReader().push(Buffer.concat([Buffer.from(line), Buffer.from("\n")]))).toEqual([]);
});

test("an error without an id is one, since it says that the other side did not understand", () => {
  const [frame] = new FrameReader().push(Buffer.from('{"id":null,"error":{"code":-32601}}\n'));
  expect(frame).toEqual({ kind: "error", id: null, error: { code: -32601 } });
});

test("a long line is understood, wherever its contents stand, and none of them is kept", () => {
  const content = 'x\\n\\"'.repeat(3 * MIB);
  const line =
    `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"S","update":{` +
    `"sessionUpdate":"tool_call_update","content":[{"type":"diff","newText":"${content}"}],` +
    `"toolCallId":"t1","status":"completed"}}}\n{"id":1,"result":null}\n`;
  const frames = readIn(Buffer.from(line), 64 * 1024);
  expect(frames).toHaveLength(2);
  expect(frames[0]).toMatchObject({
    method: "session/update",
    params: { sessionId: "S", update: { toolCallId: "t1", status: "completed" } },
  });
  expect(JSON.stringify(frames[0]).length).toBeLessThan(2 * INSPECT.textBytes);
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

test("skimming gives what parsing gives, wherever the text is split", () => {
  const json = fc.jsonValue({ maxDepth: 6 }).filter((value) => JSON.stringify(value).length < 2000);
  fc.assert(
    fc.property(
      fc.dictionary(fc.string(), json),
      fc.integer({ min: 1, max: 64 }),
      (value, size) => {
        const bytes = Buffer.from(JSON.stringify(value));
        const skimmer = new Skimmer();
        for (let at = 0; at < bytes.length; at += size) skimmer.push(bytes.subarray(at, at + size));
        expect(plain(skimmer.finish())).toEqual(JSON.parse(bytes.toString()));
      },
    ),
    { numRuns: 300 },
  );
});

test("a text that is cut within an escape ends before it", () => {
  for (const end of ["\\\\", "\\n", "\\u00e9", '\\"']) {
    for (let shift = 0; shift < 8; shift++) {
      const text = `${"x".repeat(INSPECT.textBytes - shift)}${end.repeat(4)}`;
      const skimmer = new Skimmer();
      skimmer.push(Buffer.from(`{"a":"${text}"}`));
      const { a } = plain(skimmer.finish()) as { a: string };
      expect(JSON.parse(`"${text}"`)).toContain(a);
      expect(a.length).toBeGreaterThanOrEqual(INSPECT.textBytes - 8);
    }
  }
});

test("a long line cannot fill the memory with fields, entries or depth", () => {
  const many = `{"a":[${"[],".repeat(100_000)}1],"method":"m"}`;
  const deep = `${'{"a":'.repeat(100_000)}1${"}".repeat(100_000)}`;
  for (const line of [many, deep]) {
    const skimmer = new Skimmer();
    skimmer.push(Buffer.from(line));
    const kept = JSON.stringify(skimmer.finish());
    expect(kept.length).toBeLessThan(8 * INSPECT.nodes);
  }
});

test("__proto__ is a field like any other", () => {
  const line = `{"__proto__":{"method":"evil"},"id":1,"x":"${"x".repeat(INSPECT.parseBytes)}"}\n`;
  expect(new FrameReader().push(Buffer.from(line))).toEqual([]);
  expect(readFrame(JSON.parse('{"__proto__":{"method":"evil"},"id":1}'))).toBeUndefined();
});

test("random bytes never throw, and the reader goes on after them", () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 400 })), (chunks) => {
      const reader = new FrameReader();
      for (const chunk of chunks) reader.push(chunk);
      reader.push(Buffer.from("\n"));
      expect(reader.push(Buffer.from('{"id":1,"result":1}\n'))).toHaveLength(1);
    }),
  );
});

function readIn(bytes: Uint8Array, size: number): readonly Frame[] {
  const reader = new FrameReader();
  const frames: Frame[] = [];
  for (let at = 0; at < bytes.length; at += size) {
    frames.push(...reader.push(bytes.subarray(at, at + size)));
  }
  return [...frames, ...reader.finish()];
}

/** Without the missing prototypes, which toEqual would mind. */
function plain(value: unknown): unknown {
  return value === undefined ? undefined : JSON.parse(JSON.stringify(value));
}
