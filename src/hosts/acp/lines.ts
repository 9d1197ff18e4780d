/**
 * Cuts a stream of bytes into lines, for reading along. A line that is too long to be read is told
 * by how it begins; after a gap the rest of the broken line is passed over.
 */

export interface Line {
  readonly bytes: Buffer;
  /** Too long: these are only its first bytes. */
  readonly isCut: boolean;
}

export interface LineLimits {
  /** The longest line that is given whole. */
  readonly wholeBytes: number;
  /** What is given of a longer one. */
  readonly headBytes: number;
}

const NEWLINE = 10;

export class Lines {
  readonly #limits: LineLimits;
  #parts: Buffer[] = [];
  #length = 0;
  #isCut = false;
  #isSkipping = false;

  constructor(limits: LineLimits) {
    this.#limits = limits;
  }

  /** The lines that end in this chunk; what is behind the last newline waits for the next. */
  *take(chunk: Buffer): Generator<Line> {
    let start = 0;
    for (;;) {
      const newline = chunk.indexOf(NEWLINE, start);
      if (newline === -1) break;
      this.#add(chunk.subarray(start, newline));
      const line = this.#line();
      if (line) yield line;
      start = newline + 1;
    }
    if (start < chunk.length) this.#add(chunk.subarray(start));
  }

  /** What stands behind the last newline when nothing more comes. */
  rest(): Line | undefined {
    return this.#line();
  }

  /** Bytes are missing here. */
  gap(): void {
    this.#reset();
    this.#isSkipping = true;
  }

  #add(part: Buffer): void {
    if (this.#isSkipping || this.#isCut) return;
    this.#parts.push(part);
    this.#length += part.length;
    if (this.#length <= this.#limits.wholeBytes) return;
    // A copy, so that the chunks it came in can go.
    this.#parts = [Buffer.from(Buffer.concat(this.#parts).subarray(0, this.#limits.headBytes))];
    this.#isCut = true;
  }

  #line(): Line | undefined {
    const [first] = this.#parts;
    const bytes = this.#parts.length === 1 && first ? first : Buffer.concat(this.#parts);
    const line = { bytes, isCut: this.#isCut };
    const isWhole = !this.#isSkipping && bytes.length > 0;
    this.#reset();
    return isWhole ? line : undefined;
  }

  #reset(): void {
    this.#parts = [];
    this.#length = 0;
    this.#isCut = false;
    this.#isSkipping = false;
  }
}
