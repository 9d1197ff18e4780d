/**
 * Messages on a stream of bytes, as gRPC puts them there: a byte that says whether it is
 * compressed (it is not: nobody who spoke to us ever asked for it), four of length, the message.
 */
import { RollcallError } from "../../core/errors.ts";

const PREFIX_BYTES = 5;

/** The message with its prefix. */
export function framed(message: Uint8Array): Buffer {
  const frame = Buffer.allocUnsafe(PREFIX_BYTES + message.length);
  frame[0] = 0;
  frame.writeUInt32BE(message.length, 1);
  frame.set(message, PREFIX_BYTES);
  return frame;
}

/** Takes bytes as they come, cut anywhere, and gives the messages that are whole. */
export class FrameReader {
  readonly #maxBytes: number;
  /** The parts of an incomplete message, and their size. */
  #parts: Buffer[] = [];
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Whether the bytes so far end between two messages. */
  get isBetweenMessages(): boolean {
    return this.#bytes === 0;
  }

  /** The messages that became whole. Throws when one is longer than allowed, or compressed. */
  push(chunk: Buffer): Buffer[] {
    const messages: Buffer[] = [];
    let rest = this.#joined(chunk);
    if (!rest) return messages;
    while (rest.length >= PREFIX_BYTES) {
      const end = PREFIX_BYTES + this.#lengthOf(rest);
      if (rest.length < end) break;
      messages.push(rest.subarray(PREFIX_BYTES, end));
      rest = rest.subarray(end);
    }
    this.#parts = rest.length === 0 ? [] : [rest];
    this.#bytes = rest.length;
    return messages;
  }

  /** A large message comes in many chunks: they are joined when it is whole, not at each. */
  #joined(chunk: Buffer): Buffer | undefined {
    const [first] = this.#parts;
    if (first === undefined) return chunk;
    this.#parts.push(chunk);
    this.#bytes += chunk.length;
    const isWaiting =
      first.length >= PREFIX_BYTES && this.#bytes < PREFIX_BYTES + this.#lengthOf(first);
    return isWaiting ? undefined : Buffer.concat(this.#parts, this.#bytes);
  }

  #lengthOf(frame: Buffer): number {
    if (frame[0] !== 0) {
      throw new RollcallError("UNIMPLEMENTED", "compressed messages are not understood");
    }
    const length = frame.readUInt32BE(1);
    if (length > this.#maxBytes) {
      const message = `a message of ${length} bytes: at most ${this.#maxBytes} are taken`;
      throw new RollcallError("TOO_LARGE", message);
    }
    return length;
  }
}
