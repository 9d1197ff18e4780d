/**
 * Messages on a stream of bytes, as gRPC puts them there: a byte that says whether it is
 * compressed (it is not: nobody who spoke to us ever asked for it), four of length, the message.
 */
import { RollcallError } from "../../core/errors.ts";
import { GatheredBytes } from "../gathered-bytes.ts";

const PREFIX_BYTES = 5;

/** The message with its prefix. */
export function framed(message: Uint8Array): Buffer {
  const frame = Buffer.allocUnsafe(PREFIX_BYTES + message.length);
  frame[0] = 0;
  frame.writeUInt32BE(message.length, 1);
  frame.set(message, PREFIX_BYTES);
  return frame;
}

/** The message of a chunk that is exactly one frame, as nearly all are; undefined of any other. */
export function onlyMessage(chunk: Buffer, maxBytes: number): Buffer | undefined {
  if (chunk.length < PREFIX_BYTES || chunk[0] !== 0) return undefined;
  const length = chunk.readUInt32BE(1);
  const isOne = length === chunk.length - PREFIX_BYTES && length <= maxBytes;
  return isOne ? chunk.subarray(PREFIX_BYTES) : undefined;
}

/** Takes bytes as they come, cut anywhere, and gives the messages that are whole. */
export class FrameReader {
  readonly #maxBytes: number;
  /** An incomplete message, and how many bytes of it say more than there is now. */
  readonly #kept = new GatheredBytes();
  #wantedBytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Of an incomplete message. */
  get keptBytes(): number {
    return this.#kept.length;
  }

  /** Whether the bytes so far end between two messages. */
  get isBetweenMessages(): boolean {
    return this.#kept.length === 0;
  }

  /**
   * The messages that became whole; they may be parts of the chunk. Throws when one is longer than
   * allowed, or compressed.
   */
  push(chunk: Buffer): Buffer[] {
    const messages: Buffer[] = [];
    let rest = chunk;
    if (this.#kept.length > 0) {
      this.#kept.push(chunk);
      if (this.#kept.length < this.#wantedBytes) return messages;
      rest = this.#kept.take();
    }
    while (rest.length >= PREFIX_BYTES) {
      const end = PREFIX_BYTES + this.#lengthOf(rest);
      if (rest.length < end) {
        this.#wantedBytes = end;
        this.#kept.push(rest);
        return messages;
      }
      messages.push(rest.subarray(PREFIX_BYTES, end));
      rest = rest.subarray(end);
    }
    this.#wantedBytes = PREFIX_BYTES;
    if (rest.length > 0) this.#kept.push(rest);
    return messages;
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
