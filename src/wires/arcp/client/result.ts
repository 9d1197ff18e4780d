/**
 * A result that comes in parts, put together as it comes. Each part is decoded by itself, because
 * encodings may be mixed in one stream; one that is missing or out of turn spoils the result, and
 * only a caller that wants the result is told so.
 */
import { RollcallError } from "../../../core/errors.ts";
import type { ResultChunkBody } from "../../../core/jobs/events.ts";
import { RESULT } from "../../../core/jobs/limits.ts";

export class ResultAssembly {
  #parts: Buffer[] = [];
  #bytes = 0;
  #next = 0;
  #resultId: string | undefined;
  #isBinary = false;
  #isWhole = false;
  #problem: string | undefined;

  take({ result_id, chunk_seq, data, encoding, more }: ResultChunkBody): void {
    if (this.#problem !== undefined) return;
    this.#resultId ??= result_id;
    const isExpected = chunk_seq === this.#next && result_id === this.#resultId;
    if (!isExpected || this.#isWhole) {
      return this.#spoil(`part ${chunk_seq} of ${result_id} came where ${this.#next} was due`);
    }
    const part = Buffer.from(data, encoding);
    this.#next += 1;
    this.#bytes += part.length;
    if (this.#bytes > RESULT.totalBytes) {
      return this.#spoil(`it has more than ${RESULT.totalBytes} bytes: read the events instead`);
    }
    if (encoding === "base64" && part.length > 0) this.#isBinary = true;
    this.#parts.push(part);
    this.#isWhole = !more;
  }

  /** Text, or bytes where a part was binary. Throws when it cannot be whole. */
  whole(resultId: string): string | Uint8Array {
    if (this.#problem === undefined && resultId !== this.#resultId) {
      this.#problem = "its parts never came";
    } else if (this.#problem === undefined && !this.#isWhole) {
      this.#problem = "its last part never came";
    }
    if (this.#problem !== undefined) {
      throw new RollcallError("OUT_OF_RANGE", `result ${resultId} is not whole: ${this.#problem}`);
    }
    const bytes = Buffer.concat(this.#parts);
    return this.#isBinary ? new Uint8Array(bytes) : bytes.toString();
  }

  #spoil(problem: string): void {
    this.#problem = problem;
    this.#parts = [];
  }
}
