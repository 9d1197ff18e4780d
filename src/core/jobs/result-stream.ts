/**
 * Results too large for one frame come in chunks. One stream a job:
 *
 *   chunk 0, more ──▶ chunk 1, more ──▶ … ──▶ chunk n, no more ──▶ nothing ever again
 *
 * The sender is held to it by `checkChunk`; the receiver puts the pieces together with the same
 * rules, chunk by chunk, for one stream may mix text and bytes. A chunk is cut so that no character
 * is torn and no frame grows beyond what the strictest reader takes.
 */
import { refuse, type Refusal } from "../decide.ts";
import type { ResultChunkBody } from "./events.ts";
import { RESULT } from "./limits.ts";

/** Where a stream stands; nothing before the first chunk. */
export interface ResultStream {
  readonly resultId: string;
  readonly nextSeq: number;
  /** Bytes so far, decoded. */
  readonly size: number;
  readonly isEnded: boolean;
}

export type CheckedChunk = { readonly ok: true; readonly stream: ResultStream } | Refusal;

/** Takes the next chunk of a job's stream, or says why it cannot be the next. */
export function checkChunk(
  stream: ResultStream | undefined,
  chunk: ResultChunkBody,
  maxBytes: number = RESULT.chunkBytes,
): CheckedChunk {
  const wrong = (what: string) => refuse("INVALID_ARGUMENT", what);
  const nextSeq = stream?.nextSeq ?? 0;
  if (stream && chunk.result_id !== stream.resultId) {
    return wrong(`result_id is not ${stream.resultId}: a job has one result`);
  }
  if (stream?.isEnded === true) return wrong("the result has ended: no chunk may follow");
  if (chunk.chunk_seq !== nextSeq) return wrong(`chunk_seq is not ${nextSeq}`);
  if (byteLength(chunk.data) > maxBytes) {
    return refuse("TOO_LARGE", `a chunk has at most ${maxBytes} bytes`);
  }
  const length = decodedLength(chunk);
  if (length === undefined) return wrong("data is not base64");
  const size = (stream?.size ?? 0) + length;
  if (size > RESULT.totalBytes) {
    return refuse("TOO_LARGE", `a result has at most ${RESULT.totalBytes} bytes`);
  }
  const { result_id: resultId, more } = chunk;
  return { ok: true, stream: { resultId, nextSeq: nextSeq + 1, size, isEnded: !more } };
}

const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

function decodedLength({ data, encoding }: ResultChunkBody): number | undefined {
  if (encoding === "utf8") return byteLength(data);
  if (data.length % 4 !== 0 || !BASE64.test(data)) return undefined;
  const padding = data.endsWith("==") ? 2 : data.endsWith("=") ? 1 : 0;
  return (data.length / 4) * 3 - padding;
}

/** Bytes of a text in UTF-8. */
export function byteLength(text: string): number {
  return Buffer.byteLength(text, "utf8");
}

/** Cuts text into pieces of at most so many bytes, never within a character. */
export function* splitText(text: string, maxBytes: number = RESULT.chunkBytes): Generator<string> {
  let from = 0;
  while (from < text.length) {
    const to = endOfPiece(text, from, maxBytes);
    yield text.slice(from, to);
    from = to;
  }
}

function endOfPiece(text: string, from: number, maxBytes: number): number {
  // No character of one unit takes more than three bytes: most pieces need no counting.
  const safe = Math.max(1, Math.floor(maxBytes / 3));
  if (text.length - from <= safe) return text.length;
  let bytes = 0;
  let at = from;
  while (at < text.length) {
    const code = text.codePointAt(at) ?? 0;
    const size = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    if (bytes + size > maxBytes && at > from) return at;
    bytes += size;
    at += code > 0xffff ? 2 : 1;
  }
  return at;
}

/** Cuts bytes into pieces whose base64 has at most so many characters. */
export function* splitBytes(
  bytes: Uint8Array,
  maxBytes: number = RESULT.chunkBytes,
): Generator<string> {
  const step = Math.max(3, Math.floor(maxBytes / 4) * 3);
  for (let from = 0; from < bytes.length; from += step) {
    yield Buffer.from(bytes.subarray(from, from + step)).toString("base64");
  }
}
