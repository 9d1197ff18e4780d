import { array, assert, boolean, constantFrom, integer, property, uint8Array } from "fast-check";
import { expect, test } from "vitest";
import type { ResultChunkBody } from "./events.ts";
import { RESULT } from "./limits.ts";
import { checkChunk, splitBytes, splitText, type ResultStream } from "./result-stream.ts";
import type { Refusal } from "../decide.ts";

function chunk(seq: number, fields: Partial<ResultChunkBody> = {}): ResultChunkBody {
  return { result_id: "res_1", chunk_seq: seq, data: "x", encoding: "utf8", more: true, ...fields };
}

/** Puts the chunks of one stream together. */
class ResultAssembler {
  readonly #pieces: Uint8Array[] = [];
  #stream: ResultStream | undefined;

  get stream(): ResultStream | undefined {
    return this.#stream;
  }

  /** Takes the next chunk; a refusal leaves everything as it was. */
  add(next: ResultChunkBody): Refusal | undefined {
    const checked = checkChunk(this.#stream, next, RESULT.receivedChunkBytes);
    if (!checked.ok) return checked;
    this.#stream = checked.stream;
    if (next.data !== "") this.#pieces.push(Buffer.from(next.data, next.encoding));
    return undefined;
  }

  /** All that came, in order. */
  bytes(): Uint8Array {
    return Buffer.concat(this.#pieces);
  }

  /** The same as text. */
  text(): string {
    return Buffer.concat(this.#pieces).toString("utf8");
  }
}

function assembler(...chunks: readonly ResultChunkBody[]): ResultAssembler {
  const assembled = new ResultAssembler();
  for (const each of chunks) expect(assembled.add(each)).toBeUndefined();
  return assembled;
}

// "chunk_seq starts at 0, +1 per chunk; one result_id per job; nothing after more:false"
test("chunks come in order, under one id, and end once", () => {
  const started = assembler(chunk(0));
  expect(assembler().add(chunk(1))?.reason).toBe("chunk_seq is not 0");
  expect(started.add(chunk(0))?.reason).toBe("chunk_seq is not 1");
  expect(started.add(chunk(2))?.reason).toBe("chunk_seq is not 1");
  expect(started.add(chunk(1, { result_id: "res_2" }))?.reason).toBe(
    "result_id is not res_1: a job has one result",
  );
  expect(started.add(chunk(1, { more: false }))).toBeUndefined();
  expect(started.add(chunk(2))?.reason).toBe("the result has ended: no chunk may follow");
  expect(started.stream).toEqual({ resultId: "res_1", nextSeq: 2, size: 2, isEnded: true });
});

// "mixed encodings therefore occur in one stream: decode chunk by chunk"
test("the stream that the Python runtime was seen to send is put together", () => {
  const seen = assembler(
    chunk(0, { data: "hello " }),
    chunk(1, { data: "AAE=", encoding: "base64" }),
    chunk(2, { data: "", more: false }),
  );
  expect(Buffer.from(seen.bytes()).toString("latin1")).toBe("hello \u0000\u0001");
  // "result_size counts decoded bytes"
  expect(seen.stream?.size).toBe(8);
});

test("a chunk, and all chunks together, have a bound", () => {
  const full = "x".repeat(RESULT.chunkBytes);
  expect(checkChunk(undefined, chunk(0, { data: full }))).toMatchObject({ ok: true });
  const over = checkChunk(undefined, chunk(0, { data: `${full}x` }));
  expect(over).toMatchObject({ ok: false, code: "TOO_LARGE" });
  expect(checkChunk(undefined, chunk(0, { data: "é".repeat(RESULT.chunkBytes / 2 + 1) })).ok).toBe(
    false,
  );
  const nearly = { resultId: "res_1", nextSeq: 9, size: RESULT.totalBytes, isEnded: false };
  expect(checkChunk(nearly, chunk(9))).toMatchObject({ ok: false, code: "TOO_LARGE" });
  expect(checkChunk(nearly, chunk(9, { data: "" })).ok).toBe(true);
  // Other runtimes send twice as much in one.
  expect(new ResultAssembler().add(chunk(0, { data: `${full}x` }))).toBeUndefined();
});

test.each(["a", "ab", "abc", "ab=c", "====", "é===", "ab-_"])("%j is no base64", (data) => {
  expect(checkChunk(undefined, chunk(0, { data, encoding: "base64" })).ok).toBe(false);
});

// "Multi-byte characters must not be split across utf8 chunks"
test("text is cut into pieces that fit, never within a character", () => {
  const aCharacter = constantFrom("a", "é", "€", "😀", "\u0000");
  const aText = array(aCharacter, { maxLength: 120 }).map((characters) => characters.join(""));
  const holds = property(aText, integer({ min: 4, max: 50 }), (text, maxBytes) => {
    const pieces = [...splitText(text, maxBytes)];
    expect(pieces.join("")).toBe(text);
    const longest = Math.max(0, ...pieces.map((piece) => Buffer.byteLength(piece)));
    expect(longest).toBeLessThanOrEqual(maxBytes);
    expect(pieces.filter((piece) => /\p{Surrogate}/u.test(piece))).toEqual([]);
  });
  assert(holds);
  expect([...splitText("")]).toEqual([]);
});

test("what is cut is put together again, text and bytes in any mix", () => {
  const aPart = array(boolean(), { maxLength: 6 });
  const holds = property(aPart, uint8Array({ maxLength: 300 }), (forms, bytes) => {
    const text = "añ😀".repeat(bytes.length % 40);
    const assembled = new ResultAssembler();
    const expected: Buffer[] = [];
    let seq = 0;
    for (const isText of forms) {
      const pieces = isText ? splitText(text, 16) : splitBytes(bytes, 16);
      for (const data of pieces) {
        expect(data.length).toBeLessThanOrEqual(16);
        const encoding = isText ? "utf8" : "base64";
        expect(assembled.add(chunk(seq, { data, encoding }))).toBeUndefined();
        seq += 1;
      }
      expected.push(isText ? Buffer.from(text) : Buffer.from(bytes));
    }
    expect(Buffer.from(assembled.bytes())).toEqual(Buffer.concat(expected));
    if (forms.every(Boolean)) expect(assembled.text()).toBe(text.repeat(forms.length));
  });
  assert(holds);
});
