/**
 * Bytes of one direction in, frames out, as cheap as can be: a line of ordinary length is parsed;
 * a longer one is skimmed while it passes and never held (`skim.ts`). What is not a message of
 * JSON-RPC is nothing. Whatever comes, it does not throw: the bytes belong to others.
 */
import { readFrame, type Frame } from "./frames.ts";
import { INSPECT } from "./limits.ts";
import { Skimmer } from "./skim.ts";

const NEWLINE = 0x0a;

export class FrameReader {
  /** The beginning of a line that is not over, while it is short. */
  #held: Uint8Array[] = [];
  #heldBytes = 0;
  readonly #skimmer = new Skimmer();
  #isSkimming = false;

  /** The frames whose line ends in this piece, in their order. */
  push(chunk: Uint8Array): readonly Frame[] {
    const frames: Frame[] = [];
    let from = 0;
    for (;;) {
      const end = chunk.indexOf(NEWLINE, from);
      if (end === -1) break;
      const frame = this.#end(chunk.subarray(from, end));
      if (frame !== undefined) frames.push(frame);
      from = end + 1;
    }
    if (from < chunk.length) this.#hold(chunk.subarray(from));
    return frames;
  }

  /** The stream is over: a last line may lack its end. */
  finish(): readonly Frame[] {
    const frame = this.#end(new Uint8Array(0));
    return frame === undefined ? [] : [frame];
  }

  #hold(piece: Uint8Array): void {
    if (!this.#isSkimming && this.#heldBytes + piece.length > INSPECT.parseBytes) {
      this.#isSkimming = true;
      for (const held of this.#held) this.#skimmer.push(held);
      this.#forget();
    }
    if (this.#isSkimming) {
      this.#skimmer.push(piece);
      return;
    }
    // A copy: whoever read the bytes may use their memory again.
    this.#held.push(Buffer.from(piece));
    this.#heldBytes += piece.length;
  }

  #end(last: Uint8Array): Frame | undefined {
    if (this.#isSkimming || this.#heldBytes + last.length > INSPECT.parseBytes) {
      this.#hold(last);
      this.#isSkimming = false;
      return readFrame(this.#skimmer.finish());
    }
    const line = this.#heldBytes === 0 ? last : Buffer.concat([...this.#held, last]);
    this.#forget();
    return line.length === 0 ? undefined : readFrame(parse(line));
  }

  #forget(): void {
    this.#held = [];
    this.#heldBytes = 0;
  }
}

function parse(line: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(line.buffer, line.byteOffset, line.byteLength).toString());
  } catch {
    return undefined;
  }
}
