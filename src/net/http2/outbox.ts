/**
 * The outbound side of a connection. Frames gather until the turn of the event loop is over and are
 * written as one piece; data waits in its stream while the other end has no room for it.
 */
import type { Socket } from "node:net";
import type { WaitingBytes, Waiter } from "../waiting.ts";
import {
  ConnectionError,
  DEFAULT_FRAME_BYTES,
  DEFAULT_WINDOW,
  ERROR,
  FLAG,
  FRAME,
  FRAME_HEADER_BYTES,
  MAX_WINDOW,
  type ErrorNumber,
} from "./codes.ts";
import type { Stream, WholeResponse } from "./stream.ts";

export interface OutboxOptions {
  /** Counts what waits for a client that does not read, here and in the streams. */
  readonly answers: WaitingBytes;
  readonly waiter: Waiter;
  /** While more waits, no further answers are made. */
  readonly unreadBytes: number;
  /** All that a stream had to say is out. */
  readonly onEnded: (stream: Stream) => void;
}

/** Answers that are begun before the size of the first is known. One may have megabytes. */
const BEGUN_AT_ONCE = 128;

export class Outbox {
  readonly #socket: Socket;
  readonly #options: OutboxOptions;
  /** Frames; and where `#ids` has a stream, the data of one, which gets its header when written. */
  #frames: Uint8Array[] = [];
  #ids: number[] = [];
  #bytes = 0;
  #isScheduled = false;
  #isCongested = false;
  #isEnding = false;
  /** Whether something was counted. */
  #isHeld = false;
  /** In the streams. */
  #waitingBytes = 0;
  #window = DEFAULT_WINDOW;
  /** Streams with something to send, in the order in which they get room: all lack it. */
  readonly #blocked = new Set<Stream>();
  /** Streams whose own window is used up. */
  readonly #starved = new Set<Stream>();
  /** Answers that are not begun: too much of others is not read, or too many were begun at once. */
  readonly #withheld = new Map<Stream, () => void>();
  #begun = 0;
  /** The send window of a new stream. */
  #initialWindow = DEFAULT_WINDOW;

  constructor(socket: Socket, options: OutboxOptions) {
    this.#socket = socket;
    this.#options = options;
    socket.on("drain", () => {
      this.#isCongested = false;
      this.#unblock();
      this.#schedule();
    });
  }

  /** The whole connection has more room. */
  grow(increment: number): void {
    this.#window += increment;
    if (this.#window > MAX_WINDOW) {
      throw new ConnectionError(ERROR.FLOW_CONTROL_ERROR, "a window larger than there can be");
    }
    this.#unblock();
  }

  /**
   * Streams that are open get as much more room, or less, as new ones do: those that have something
   * to send are looked at, however many there are.
   */
  resizeWindows(window: number): void {
    const isMore = window > this.#initialWindow;
    this.#initialWindow = window;
    if (isMore) for (const stream of Array.from(this.#starved)) this.send(stream);
  }

  /** Whether a stream can have so much more room. */
  grant(stream: Stream, increment: number): boolean {
    if (this.#initialWindow + stream.sendCredit + increment > MAX_WINDOW) return false;
    stream.sendCredit += increment;
    this.send(stream);
    return true;
  }

  get hasRoom(): boolean {
    return this.#unreadBytes <= this.#options.unreadBytes;
  }

  /** Calls when an answer may be begun; never for a stream that is forgotten by then. */
  whenRoom(stream: Stream, then: () => void): void {
    this.#begun += 1;
    if (this.#begun <= BEGUN_AT_ONCE && this.#withheld.size === 0 && this.hasRoom) return then();
    this.#withheld.set(stream, then);
    if (this.#begun === BEGUN_AT_ONCE + 1) setImmediate(this.#beginWithheld);
  }

  readonly #beginWithheld = (): void => {
    this.#begun = 0;
    for (const [stream, then] of this.#withheld) {
      if (!this.hasRoom) return;
      if (this.#begun === BEGUN_AT_ONCE) return void setImmediate(this.#beginWithheld);
      this.#begun += 1;
      this.#withheld.delete(stream);
      then();
    }
  };

  /** Bytes that wait in streams, and for the socket to be read. */
  get #unreadBytes(): number {
    return this.#waitingBytes + (this.#isCongested ? this.#socket.writableLength : 0);
  }

  waits(bytes: number): void {
    this.#waitingBytes += bytes;
    this.#schedule();
  }

  /** Sends what waits in a stream, as far as there is room. */
  send(stream: Stream): void {
    const { waiting } = stream;
    while (stream.waitingBytes > 0) {
      const room = this.#roomOf(stream);
      const [first] = waiting;
      if (room <= 0 || !first) {
        if (this.#isCongested || this.#window <= 0) this.#blocked.add(stream);
        else this.#starved.add(stream);
        return;
      }
      const length = Math.min(first.length, room, DEFAULT_FRAME_BYTES);
      this.#pushData(stream.id, length === first.length ? first : first.subarray(0, length));
      if (length === first.length) waiting.shift();
      else waiting[0] = first.subarray(length);
      stream.waitingBytes -= length;
      this.#waitingBytes -= length;
      stream.sendCredit -= length;
      this.#window -= length;
    }
    this.#blocked.delete(stream);
    this.#starved.delete(stream);
    if (stream.trailers && !stream.isLocalEnded) {
      this.headers(stream.id, stream.trailers, true);
      this.#options.onEnded(stream);
    } else {
      stream.wasSent();
    }
  }

  /** Data that fits, of a stream in which none waits. */
  data(stream: Stream, bytes: Uint8Array): boolean {
    const { length } = bytes;
    if (length > this.#roomOf(stream) || length > DEFAULT_FRAME_BYTES || stream.waitingBytes > 0)
      return false;
    if (length > 0) this.#pushData(stream.id, bytes);
    stream.sendCredit -= length;
    this.#window -= length;
    return true;
  }

  /** An answer that fits goes as one piece of bytes. */
  whole(stream: Stream, { headers, data, trailers }: WholeResponse): boolean {
    const { length } = data;
    if (length > this.#roomOf(stream) || length > DEFAULT_FRAME_BYTES || stream.waitingBytes > 0)
      return false;
    const { id } = stream;
    const bytes = Buffer.allocUnsafe(
      3 * FRAME_HEADER_BYTES + headers.length + length + trailers.length,
    );
    let at = putHeader(bytes, 0, {
      type: FRAME.HEADERS,
      length: headers.length,
      flags: FLAG.END_HEADERS,
      id,
    });
    bytes.set(headers, at);
    at = putHeader(bytes, at + headers.length, { type: FRAME.DATA, length, flags: 0, id });
    bytes.set(data, at);
    const flags = FLAG.END_HEADERS | FLAG.END_STREAM;
    at = putHeader(bytes, at + length, { type: FRAME.HEADERS, length: trailers.length, flags, id });
    bytes.set(trailers, at);
    stream.sendCredit -= length;
    this.#window -= length;
    this.#push(bytes);
    return true;
  }

  headers(id: number, block: Buffer, isEnd: boolean): void {
    let rest = block;
    let type: number = FRAME.HEADERS;
    let flags = isEnd ? FLAG.END_STREAM : 0;
    do {
      const part = rest.subarray(0, DEFAULT_FRAME_BYTES);
      rest = rest.subarray(part.length);
      if (rest.length === 0) flags |= FLAG.END_HEADERS;
      this.#push(frameHeader(type, { length: part.length, flags, id }));
      this.#push(part);
      type = FRAME.CONTINUATION;
      flags = 0;
    } while (rest.length > 0);
  }

  settings(values: readonly (readonly [setting: number, value: number])[]): void {
    const payload = Buffer.alloc(values.length * 6);
    for (const [i, [setting, value]] of values.entries()) {
      payload.writeUInt16BE(setting, i * 6);
      payload.writeUInt32BE(value, i * 6 + 2);
    }
    this.#control(FRAME.SETTINGS, payload);
  }

  settingsAck(): void {
    this.#push(frameHeader(FRAME.SETTINGS, { length: 0, flags: FLAG.ACK, id: 0 }));
  }

  ping(): void {
    this.#control(FRAME.PING, Buffer.alloc(8));
  }

  pingAck(payload: Buffer): void {
    this.#push(frameHeader(FRAME.PING, { length: 8, flags: FLAG.ACK, id: 0 }));
    this.#push(payload);
  }

  windowUpdate(id: number, increment: number): void {
    const frame = Buffer.allocUnsafe(FRAME_HEADER_BYTES + 4);
    putHeader(frame, 0, { type: FRAME.WINDOW_UPDATE, length: 4, flags: 0, id });
    frame.writeUInt32BE(increment, FRAME_HEADER_BYTES);
    this.#push(frame);
  }

  reset(id: number, number: ErrorNumber): void {
    const frame = Buffer.allocUnsafe(FRAME_HEADER_BYTES + 4);
    putHeader(frame, 0, { type: FRAME.RST_STREAM, length: 4, flags: 0, id });
    frame.writeUInt32BE(number, FRAME_HEADER_BYTES);
    this.#push(frame);
  }

  goAway(lastId: number, number: ErrorNumber, message: string): void {
    const text = Buffer.from(message);
    const payload = Buffer.alloc(8 + text.length);
    payload.writeUInt32BE(lastId, 0);
    payload.writeUInt32BE(number, 4);
    payload.set(text, 8);
    this.#control(FRAME.GOAWAY, payload);
  }

  forget(stream: Stream): void {
    this.#blocked.delete(stream);
    this.#starved.delete(stream);
    this.#withheld.delete(stream);
  }

  #roomOf({ sendCredit }: Stream): number {
    return this.#isCongested ? 0 : Math.min(this.#window, this.#initialWindow + sendCredit);
  }

  /** Writes what there is, then ends the connection. */
  end(): void {
    this.#isEnding = true;
    this.#schedule();
  }

  #control(type: number, payload: Buffer): void {
    this.#push(frameHeader(type, { length: payload.length, flags: 0, id: 0 }));
    this.#push(payload);
  }

  #push(bytes: Uint8Array): void {
    this.#frames.push(bytes);
    this.#ids.push(NO_STREAM);
    this.#bytes += bytes.length;
    this.#schedule();
  }

  #pushData(id: number, bytes: Uint8Array): void {
    this.#frames.push(bytes);
    this.#ids.push(id);
    this.#bytes += FRAME_HEADER_BYTES + bytes.length;
    this.#schedule();
  }

  /** After everything that is answered in this turn: a batch that became durable is one write. */
  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    process.nextTick(() => this.#flush());
  }

  #flush(): void {
    this.#isScheduled = false;
    if (this.#socket.destroyed) return;
    if (this.#bytes > 0) {
      const bytes = this.#joined();
      this.#frames = [];
      this.#ids = [];
      this.#bytes = 0;
      this.#isCongested = !this.#socket.write(bytes);
    }
    this.#count();
    // Answers begun since are counted by now.
    if (this.#withheld.size > 0) this.#beginWithheld();
    else this.#begun = 0;
    if (this.#isEnding) this.#socket.end();
  }

  #joined(): Uint8Array {
    const [frames, ids] = [this.#frames, this.#ids];
    const [only, id = NO_STREAM] = [frames[0], ids[0]];
    if (only && frames.length === 1) return id === NO_STREAM ? only : dataFrame(id, only);
    const joined = Buffer.allocUnsafe(this.#bytes);
    let at = 0;
    for (const [i, frame] of frames.entries()) {
      const ofStream = ids[i] ?? NO_STREAM;
      if (ofStream !== NO_STREAM) at = putHeader(joined, at, dataHeader(ofStream, frame));
      joined.set(frame, at);
      at += frame.length;
    }
    return joined;
  }

  #count(): void {
    const { answers, waiter } = this.#options;
    const bytes = this.#unreadBytes;
    if (bytes > 0) answers.hold(waiter, bytes);
    else if (this.#isHeld) answers.release(waiter);
    this.#isHeld = bytes > 0;
  }

  #unblock(): void {
    for (const stream of this.#blocked) {
      if (this.#isCongested || this.#window <= 0) return;
      this.#blocked.delete(stream);
      this.send(stream);
    }
  }
}

/** The connection itself. */
const NO_STREAM = 0;

/**
 * A thousand watchers on connections of their own are sent the same data, and mostly in a stream of
 * the same number: then it is the very same frame.
 */
function dataFrame(id: number, data: Uint8Array): Buffer {
  if (last.data === data && last.id === id) return last.frame;
  const frame = Buffer.allocUnsafe(FRAME_HEADER_BYTES + data.length);
  frame.set(data, putHeader(frame, 0, dataHeader(id, data)));
  last = { id, data, frame };
  return frame;
}

let last: { readonly id: number; readonly data?: Uint8Array; readonly frame: Buffer } = {
  id: NO_STREAM,
  frame: Buffer.alloc(0),
};

function dataHeader(id: number, { length }: Uint8Array) {
  return { type: FRAME.DATA, length, flags: 0, id };
}

interface HeaderOf {
  readonly length: number;
  readonly flags: number;
  readonly id: number;
}

function frameHeader(type: number, header: HeaderOf): Buffer {
  const bytes = Buffer.allocUnsafe(FRAME_HEADER_BYTES);
  putHeader(bytes, 0, { type, ...header });
  return bytes;
}

/** Gives where the payload goes. */
function putHeader(
  bytes: Buffer,
  at: number,
  header: HeaderOf & { readonly type: number },
): number {
  bytes.writeUIntBE(header.length, at, 3);
  bytes[at + 3] = header.type;
  bytes[at + 4] = header.flags;
  return bytes.writeUInt32BE(header.id, at + 5);
}
