/**
 * A result in chunks: numbered from 0, closed by an empty one, each small enough for a frame of
 * the strictest client. Text is never cut inside a character, so each chunk can be read by itself.
 */
import { RollcallError } from "../core/errors.ts";
import type { ResultChunkBody } from "../core/jobs/events.ts";
import { RESULT } from "../core/jobs/limits.ts";

/** Bytes that make a chunk of base64. */
const RAW_BYTES = Math.floor(RESULT.chunkBytes / 4) * 3;
/** Text may take four bytes a character, and an escape in JSON six for one. */
const TEXT_BYTES = Math.floor(RESULT.chunkBytes / 2);

export class ResultStream {
  readonly resultId: string;
  readonly #emit: (chunk: ResultChunkBody & Record<string, unknown>) => Promise<void>;
  #chunks = 0;
  #bytes = 0;
  #summary: string | undefined;
  #isClosed = false;

  constructor(resultId: string, emit: (chunk: ResultChunkBody & Record<string, unknown>) => Promise<void>) {
    this.resultId = resultId;
    this.#emit = emit;
  }

  /** Decoded bytes so far. */
  get size(): number {
    return this.#bytes;
  }

  get summary(): string | undefined {
    return this.#summary;
  }

  async write(data: string | Uint8Array): Promise<void> {
    if (this.#isClosed) throw new RollcallError("WRONG_STATE", "the result was ended");
    const bytes = typeof data === "string" ? Buffer.byteLength(data) : data.byteLength;
    if (this.#bytes + bytes > RESULT.totalBytes) {
      throw new RollcallError("TOO_LARGE", `a result has at most ${RESULT.totalBytes} bytes`);
    }
    this.#bytes += bytes;
    if (typeof data === "string") {
      for (const piece of piecesOf(data)) await this.#say(piece, "utf8", true);
      return;
    }
    for (let at = 0; at < data.byteLength; at += RAW_BYTES) {
      const piece = Buffer.from(data.buffer, data.byteOffset + at, Math.min(RAW_BYTES, data.byteLength - at));
      await this.#say(piece.toString("base64"), "base64", true);
    }
  }

  /** Nothing comes after it. Idempotent. */
  async end(summary?: string): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#summary = summary;
    await this.#say("", "utf8", false);
  }

  #say(data: string, encoding: "utf8" | "base64", more: boolean): Promise<void> {
    const chunk = { result_id: this.resultId, chunk_seq: this.#chunks, data, encoding, more };
    this.#chunks += 1;
    return this.#emit(chunk);
  }
}

function* piecesOf(text: string): Generator<string> {
  let from = 0;
  while (from < text.length) {
    let to = Math.min(text.length, from + TEXT_BYTES / 4);
    const last = text.charCodeAt(to - 1);
    // A surrogate pair stays together.
    if (to < text.length && last >= 0xd800 && last < 0xdc00) to -= 1;
    yield text.slice(from, to);
    from = to;
  }
}
