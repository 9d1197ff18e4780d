/**
 * How much of a WebSocket message has come, by the headers of its frames (RFC 6455, 5.2). `ws`
 * keeps what comes until the message is whole, and tells nothing of it.
 *
 *   between ──first byte──▶ within ──last byte of a final frame of data──▶ between
 */
import { PIECE_BYTES } from "../../../net/waiting.ts";

const FINAL = 0x80;
/** In the number of a frame's kind: it is no part of a message. */
const CONTROL = 0x08;
const MASKED = 0x80;
const LENGTH = 0x7f;
/** Instead of a length: it stands in the two, or eight, bytes that follow. */
const IN_TWO_BYTES = 126;
const IN_EIGHT_BYTES = 127;
const LONGEST_HEADER = 14;
/** The header that is read, of whichever socket: a buffer for each would lie idle nearly always. */
const HEADER = Buffer.alloc(LONGEST_HEADER);

export class IncompleteMessage {
  /** The first bytes of a header, where a chunk ended within it: hardly ever. */
  #begun: Buffer | undefined;
  #headerBytes = 0;
  /** Of the frame that comes, without its header. */
  #missingBytes = 0;
  /** Between two frames of one message. */
  #isContinued = false;
  #bytes = 0;

  /** The memory of the message so far, its pieces included; 0 between two messages. */
  get bytes(): number {
    return this.#bytes;
  }

  push(chunk: Buffer): void {
    let at = 0;
    let keptFrom = 0;
    this.#bytes += PIECE_BYTES;
    while (at < chunk.length) {
      if (this.#missingBytes === 0) at = this.#readHeader(chunk, at);
      if (this.#headerBytes > 0) break;
      const taken = Math.min(this.#missingBytes, chunk.length - at);
      this.#missingBytes -= taken;
      at += taken;
      if (this.#missingBytes > 0) break;
      this.#bytes = this.#isContinued ? this.#bytes + PIECE_BYTES : 0;
      if (!this.#isContinued) keptFrom = at;
    }
    const isBetween = this.#headerBytes === 0 && this.#missingBytes === 0 && !this.#isContinued;
    this.#bytes = isBetween ? 0 : this.#bytes + chunk.length - keptFrom;
  }

  /** Gives where it ends, or the chunk does. */
  #readHeader(chunk: Buffer, from: number): number {
    this.#begun?.copy(HEADER);
    this.#begun = undefined;
    for (let at = from; at < chunk.length; at += 1) {
      HEADER[this.#headerBytes] = chunk[at] ?? 0;
      this.#headerBytes += 1;
      if (this.#headerBytes < headerLength(HEADER, this.#headerBytes)) continue;
      this.#headerBytes = 0;
      this.#missingBytes = payloadLength(HEADER);
      const [first = 0] = HEADER;
      if (!(first & CONTROL)) this.#isContinued = !(first & FINAL);
      return at + 1;
    }
    this.#begun = Buffer.from(HEADER.subarray(0, this.#headerBytes));
    return chunk.length;
  }
}

function headerLength(header: Buffer, known: number): number {
  if (known < 2) return 2;
  const second = header[1] ?? 0;
  const mask = second & MASKED ? 4 : 0;
  return 2 + extraBytes(second & LENGTH) + mask;
}

function extraBytes(length: number): number {
  if (length === IN_EIGHT_BYTES) return 8;
  return length === IN_TWO_BYTES ? 2 : 0;
}

function payloadLength(header: Buffer): number {
  const length = (header[1] ?? 0) & LENGTH;
  if (length === IN_EIGHT_BYTES) return Number(header.readBigUInt64BE(2));
  return length === IN_TWO_BYTES ? header.readUInt16BE(2) : length;
}
