/**
 * Writes a result in chunks, closed by an empty one. What the chunks must look like is core's
 * rule, and holds for drivers that pass on the chunks of others as well; here they are made.
 *
 * Text that JSON would blow up (quotes, control characters) goes as bytes: a frame has an end.
 */
import { RollcallError } from "../core/errors.ts";
import type { ResultChunkBody } from "../core/jobs/events.ts";
import { RESULT } from "../core/jobs/limits.ts";
import { splitBytes, splitText } from "../core/jobs/result-stream.ts";

export interface ResultWriterOptions {
  readonly resultId: string;
  /** Encoded, of one chunk. */
  readonly chunkBytes?: number;
  readonly emit: (chunk: ResultChunkBody & Record<string, unknown>) => Promise<void>;
}

export class ResultWriter {
  readonly resultId: string;
  readonly #chunkBytes: number;
  readonly #emit: ResultWriterOptions["emit"];
  #chunks = 0;
  #summary: string | undefined;
  #isEnded = false;
  /** Whether what is written is a value as JSON, and to be read as that. */
  isJson = false;

  constructor({ resultId, chunkBytes = RESULT.chunkBytes, emit }: ResultWriterOptions) {
    this.resultId = resultId;
    this.#chunkBytes = Math.min(chunkBytes, RESULT.chunkBytes);
    this.#emit = emit;
  }

  get summary(): string | undefined {
    return this.#summary;
  }

  async write(data: string | Uint8Array): Promise<void> {
    if (this.#isEnded) throw new RollcallError("WRONG_STATE", "the result was ended");
    if (typeof data !== "string") return this.#writeBytes(data);
    for (const piece of splitText(data, this.#chunkBytes)) {
      const isBlownUp = JSON.stringify(piece).length > this.#chunkBytes * 1.5;
      if (isBlownUp) await this.#writeBytes(Buffer.from(piece));
      else await this.#say(piece, "utf8", true);
    }
  }

  async #writeBytes(bytes: Uint8Array): Promise<void> {
    for (const piece of splitBytes(bytes, this.#chunkBytes)) await this.#say(piece, "base64", true);
  }

  /** Nothing comes after it. Idempotent. */
  async end(summary?: string): Promise<void> {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#summary = summary?.slice(0, RESULT.summaryLength);
    await this.#say("", "utf8", false);
  }

  #say(data: string, encoding: "utf8" | "base64", more: boolean): Promise<void> {
    const chunk = { result_id: this.resultId, chunk_seq: this.#chunks, data, encoding, more };
    this.#chunks += 1;
    return this.#emit(chunk);
  }
}
