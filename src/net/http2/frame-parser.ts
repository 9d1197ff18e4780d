/**
 * Frames out of the bytes of a client: the preface, frames of a size that was agreed on, header
 * blocks put together from all their frames, padding off. What cannot be is a ConnectionError.
 *
 * Frames that ask for nothing are counted: a client that sends nothing else wants to keep us busy.
 */
import { GatheredBytes } from "../gathered-bytes.ts";
import { Allowance } from "./allowance.ts";
import {
  ConnectionError,
  DEFAULT_FRAME_BYTES,
  ERROR,
  FLAG,
  FRAME,
  FRAME_HEADER_BYTES,
  PREFACE,
  tooLong,
  wrong,
} from "./codes.ts";

export interface Frame {
  type: number;
  flags: number;
  id: number;
  /** Without padding; of HEADERS the whole block. */
  payload: Buffer;
  /** With padding: what counts against the windows. */
  length: number;
}

export interface FrameLimits {
  readonly headerBytes: number;
  readonly idleFramesPerSecond: number;
}

/** A header block that goes on in further frames. */
interface HeaderBlock {
  readonly id: number;
  readonly flags: number;
  readonly block: GatheredBytes;
}

export class FrameParser {
  readonly #limits: FrameLimits;
  readonly #take: (frame: Frame) => void;
  /** Filled over and over; each is dealt with before the next. */
  readonly #frame: Frame = { type: 0, flags: 0, id: 0, payload: Buffer.alloc(0), length: 0 };
  #rest: Buffer | undefined;
  #stage: "preface" | "settings" | "open" = "preface";
  #continued: HeaderBlock | undefined;
  /** Frames that ask for nothing. */
  readonly #idle: Allowance;

  constructor(limits: FrameLimits, take: (frame: Frame) => void) {
    this.#limits = limits;
    this.#take = take;
    const { idleFramesPerSecond: each } = limits;
    this.#idle = new Allowance({ atOnce: each, perSecond: each }, "frames that ask for nothing");
  }

  /** The frame that was taken last asked for nothing. */
  countIdle(): void {
    this.#idle.take();
  }

  push(chunk: Buffer): void {
    const bytes = this.#rest ? Buffer.concat([this.#rest, chunk]) : chunk;
    this.#rest = undefined;
    let at = this.#stage === "preface" ? this.#preface(bytes) : 0;
    while (this.#stage !== "preface" && bytes.length - at >= FRAME_HEADER_BYTES) {
      const length = bytes.readUIntBE(at, 3);
      if (length > DEFAULT_FRAME_BYTES) throw tooLong();
      const end = at + FRAME_HEADER_BYTES + length;
      if (end > bytes.length) break;
      const frame = this.#frame;
      frame.type = bytes[at + 3] ?? 0;
      frame.flags = bytes[at + 4] ?? 0;
      frame.id = bytes.readUInt32BE(at + 5) & 0x7fffffff;
      frame.payload = bytes.subarray(at + FRAME_HEADER_BYTES, end);
      frame.length = length;
      at = end;
      this.#sort(frame);
    }
    // A copy: the chunk is up to 64 KiB, and what is left of it often a few bytes.
    if (at < bytes.length) this.#rest = at === 0 ? bytes : Buffer.from(bytes.subarray(at));
  }

  /** How much of it came; all of it or it is waited for. */
  #preface(bytes: Buffer): number {
    const begun = bytes.subarray(0, PREFACE.length);
    if (!begun.equals(PREFACE.subarray(0, begun.length))) throw wrong("not the preface of HTTP/2");
    if (begun.length < PREFACE.length) return 0;
    this.#stage = "settings";
    return PREFACE.length;
  }

  #sort(frame: Frame): void {
    if (this.#stage === "settings") {
      if (frame.type !== FRAME.SETTINGS) throw wrong("the first frame is not SETTINGS");
      this.#stage = "open";
    }
    if (this.#continued) return this.#continue(frame, this.#continued);
    switch (frame.type) {
      case FRAME.DATA:
        frame.payload = unpadded(frame);
        if (frame.length === 0) this.countIdle();
        break;
      case FRAME.HEADERS:
        frame.payload = blockOf(frame);
        if (!(frame.flags & FLAG.END_HEADERS)) return this.#begin(frame);
        break;
      case FRAME.CONTINUATION:
        throw wrong("CONTINUATION without HEADERS");
      case FRAME.WINDOW_UPDATE:
        break;
      default:
        this.countIdle();
    }
    this.#take(frame);
  }

  #begin({ id, flags, payload }: Frame): void {
    const block = new GatheredBytes();
    block.push(payload);
    this.#continued = { id, flags, block };
  }

  #continue(frame: Frame, continued: HeaderBlock): void {
    if (frame.type !== FRAME.CONTINUATION || frame.id !== continued.id) {
      throw wrong("a header block was not finished");
    }
    if (frame.length === 0) this.countIdle();
    continued.block.push(frame.payload);
    if (continued.block.length > 2 * this.#limits.headerBytes) {
      throw new ConnectionError(ERROR.ENHANCE_YOUR_CALM, "headers without an end");
    }
    if (!(frame.flags & FLAG.END_HEADERS)) return;
    this.#continued = undefined;
    frame.type = FRAME.HEADERS;
    frame.flags = continued.flags | FLAG.END_HEADERS;
    frame.payload = continued.block.take();
    this.#take(frame);
  }
}

function blockOf(frame: Frame): Buffer {
  const block = unpadded(frame);
  if (!(frame.flags & FLAG.PRIORITY)) return block;
  if (block.length < 5) throw tooLong();
  if ((block.readUInt32BE(0) & 0x7fffffff) === frame.id) throw wrong("a stream depends on itself");
  return block.subarray(5);
}

function unpadded({ payload, flags }: Frame): Buffer {
  if (!(flags & FLAG.PADDED)) return payload;
  const padding = payload[0] ?? 0;
  if (padding >= payload.length) throw wrong("more padding than frame");
  return payload.subarray(1, payload.length - padding);
}
