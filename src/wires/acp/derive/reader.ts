/**
 * Bytes of one direction in, frames out. A line that is too long is not read: its bytes go by, none
 * of them is held, and it is counted. What is not a message of JSON-RPC is nothing. Whatever comes,
 * it does not throw: the bytes belong to others.
 */
import { parseJson } from "../../../core/text.ts";
import { readFrame, type AcpFrame } from "./frames.ts";
import { INSPECT } from "./limits.ts";

const NEWLINE = 0x0a;

export class AcpLineReader {
  /** The beginning of a line that is not over. */
  #held: Uint8Array[] = [];
  #heldBytes = 0;
  /** The rest of this line is not read. */
  #isSkipping = false;
  #unread = 0;

  /** How often something was not read: a line that is too long, or a gap. */
  get unread(): number {
    return this.#unread;
  }

  /** The frames whose line ends in this piece, in their order. */
  push(chunk: Uint8Array): readonly AcpFrame[] {
    const frames: AcpFrame[] = [];
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

  /** Bytes are missing here, the end of the line that was begun among them. */
  gap(): void {
    this.#forget();
    this.#isSkipping = false;
    this.#unread += 1;
  }

  /** The next bytes are the end of a line whose beginning is missing. */
  skipLine(): void {
    this.#isSkipping = true;
  }

  /** The stream is over: a last line may lack its end. */
  finish(): readonly AcpFrame[] {
    const frame = this.#end(new Uint8Array(0));
    return frame === undefined ? [] : [frame];
  }

  #hold(piece: Uint8Array): void {
    if (this.#isSkipping) return;
    if (this.#isTooLong(piece)) {
      this.#isSkipping = true;
      return;
    }
    // A copy: the caller may use the memory of these bytes again.
    this.#held.push(Buffer.from(piece));
    this.#heldBytes += piece.length;
  }

  #end(last: Uint8Array): AcpFrame | undefined {
    const isUnread = this.#isSkipping || this.#isTooLong(last);
    this.#isSkipping = false;
    if (isUnread) return undefined;
    const line = this.#heldBytes === 0 ? last : Buffer.concat([...this.#held, last]);
    this.#forget();
    return line.length === 0 ? undefined : readFrame(parseJson(textOf(line)));
  }

  /** Whether the line is, with this; then it is counted, and nothing of it is held. */
  #isTooLong(piece: Uint8Array): boolean {
    if (this.#heldBytes + piece.length <= INSPECT.lineBytes) return false;
    this.#forget();
    this.#unread += 1;
    return true;
  }

  #forget(): void {
    this.#held = [];
    this.#heldBytes = 0;
  }
}

function textOf({ buffer, byteOffset, byteLength }: Uint8Array): string {
  return Buffer.from(buffer, byteOffset, byteLength).toString();
}
