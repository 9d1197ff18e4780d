/**
 * Frames as lines: one JSON object, then a newline. A pipe cuts anywhere, also in the middle of a
 * character, so bytes gather until their line is whole and become text then. Blank lines are
 * skipped, and a line may end as on Windows.
 */
import { isUtf8 } from "node:buffer";

const NEWLINE = 0x0a;
const RETURN = 0x0d;

export type LineFault = "too large" | "not UTF-8";

export interface LineSink {
  onLine(line: string): void;
  /** The last call: nothing after it can be told apart. */
  onFault(fault: LineFault): void;
}

export class LineReader {
  readonly #maxBytes: number;
  readonly #sink: LineSink;
  /** The beginning of an incomplete line: pieces, each larger than the one after it. */
  #begun: Uint8Array[] = [];
  #begunBytes = 0;
  #isBroken = false;

  constructor(maxBytes: number, sink: LineSink) {
    this.#maxBytes = maxBytes;
    this.#sink = sink;
  }

  /** Whether it ends in the middle of a line. */
  get isWithinLine(): boolean {
    return this.#begunBytes > 0;
  }

  push(chunk: Uint8Array): void {
    let start = 0;
    while (!this.#isBroken) {
      const end = chunk.indexOf(NEWLINE, start);
      if (end === -1) break;
      if (this.#gather(chunk.subarray(start, end))) this.#finish();
      start = end + 1;
    }
    if (!this.#isBroken && start < chunk.length) this.#gather(chunk.subarray(start));
  }

  /** A peer that sends byte by byte costs neither a piece for each nor a copy of all for each. */
  #gather(bytes: Uint8Array): boolean {
    this.#begunBytes += bytes.length;
    let piece = bytes;
    for (let last = this.#begun.at(-1); last && last.length <= piece.length;) {
      piece = Buffer.concat([last, piece]);
      this.#begun.pop();
      last = this.#begun.at(-1);
    }
    this.#begun.push(piece);
    if (this.#begunBytes > this.#maxBytes) this.#break("too large");
    return !this.#isBroken;
  }

  #finish(): void {
    const whole = this.#begun.length === 1 ? this.#begun[0] : Buffer.concat(this.#begun);
    this.#begun = [];
    this.#begunBytes = 0;
    let bytes = whole ?? new Uint8Array();
    if (bytes.at(-1) === RETURN) bytes = bytes.subarray(0, -1);
    if (!isUtf8(bytes)) return this.#break("not UTF-8");
    const line = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString();
    if (line.trim() !== "") this.#sink.onLine(line);
  }

  #break(fault: LineFault): void {
    this.#isBroken = true;
    this.#begun = [];
    this.#begunBytes = 0;
    this.#sink.onFault(fault);
  }
}
