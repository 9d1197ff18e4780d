/**
 * One HTTP/2 connection, the server's end of it (RFC 9113). Node has one too; this one costs a
 * fifth: a call is a few table look-ups and its answer one piece of bytes, and what is answered
 * together is written together.
 *
 *   preface ──settings──▶ open ──GOAWAY (ours)──▶ closing ──last stream ends──▶ closed
 *                           └── what must not be: GOAWAY with the reason ──────────┘
 *
 * The peer may be hostile: headers, frames that only cost us, streams that come to nothing, bytes
 * that wait to be sent and the number of streams all have a bound, and beyond it the connection
 * ends. Until one of its callers is known, a connection gets fewer streams.
 */
import type { Socket } from "node:net";
import { ShortLivedMap } from "../../core/short-lived-map.ts";
import type { Waiter, WaitingBytes } from "../waiting.ts";
import { Allowance } from "./allowance.ts";
import {
  ConnectionError,
  DEFAULT_WINDOW,
  ERROR,
  FLAG,
  FRAME,
  SETTING,
  tooLong,
  wrong,
  type ErrorNumber,
} from "./codes.ts";
import { FrameParser, type Frame } from "./frame-parser.ts";
import { HeaderDecoder, type Field } from "./hpack.ts";
import type { ConnectionLimits } from "./limits.ts";
import { Outbox } from "./outbox.ts";
import { areTrailers, requestHeaders } from "./request-headers.ts";
import { initialWindowIn } from "./settings.ts";
import { Stream, type Carrier, type WholeResponse } from "./stream.ts";

export interface ConnectionOptions {
  readonly limits: ConnectionLimits;
  /** Counts what waits to be sent on all connections of the process. */
  readonly answers: WaitingBytes;
  readonly onStream: (stream: Stream) => void;
  /** `isFlood`: it ended because the client did too much of what only costs us. */
  readonly onClose: (isFlood: boolean) => void;
}

/** How long the other end has to read why the connection ends. */
const LAST_WORDS_MS = 1_000;
/** Streams that we reset, whose frames may still be under way. */
const RESETS_KEPT = 1_000;
export class Http2Connection implements Carrier, Waiter {
  readonly #socket: Socket;
  readonly #options: ConnectionOptions;
  readonly #decoder: HeaderDecoder;
  readonly #outbox: Outbox;
  readonly #parser: FrameParser;
  /** Streams that the client reset, or that were refused: each cost us, and came to nothing. */
  readonly #wasted: Allowance;
  readonly #settingsSent: Allowance;
  readonly #streams = new ShortLivedMap<number, Stream>();
  readonly #wereReset = new Set<number>();
  readonly #asking: NodeJS.Timeout;
  #lastId = 0;
  #receiveWindow: number;
  #receivedBytes = 0;
  #lateness: NodeJS.Timeout | undefined;
  #mostStreams: number;
  #isFlood = false;
  #isClosing = false;
  #isClosed = false;

  constructor(socket: Socket, options: ConnectionOptions) {
    this.#socket = socket;
    this.#options = options;
    const { limits } = options;
    this.#decoder = new HeaderDecoder(limits.headerBytes);
    this.#receiveWindow = limits.connectionWindow;
    this.#mostStreams = limits.strangerStreams;
    const wasted = { atOnce: this.#mostStreams, perSecond: limits.wastedStreamsPerSecond };
    this.#wasted = new Allowance(wasted, "streams that come to nothing");
    const { settingsPerSecond: each } = limits;
    this.#settingsSent = new Allowance({ atOnce: each, perSecond: each }, "SETTINGS");
    this.#outbox = new Outbox(socket, {
      answers: options.answers,
      unreadBytes: limits.unreadBytes,
      waiter: this,
      onEnded: (stream) => this.#ended(stream),
    });
    this.#asking = setInterval(() => this.#askWhetherThere(), limits.keepaliveMs);
    this.#parser = new FrameParser(limits, (frame) => this.#take(frame));
    socket.on("data", (chunk: Buffer) => this.#read(chunk));
    socket.on("error", () => this.destroy());
    socket.on("end", () => this.destroy());
    socket.on("close", () => this.destroy());
    this.#outbox.settings([
      [SETTING.MAX_CONCURRENT_STREAMS, this.#mostStreams],
      [SETTING.INITIAL_WINDOW_SIZE, limits.streamWindow],
      [SETTING.MAX_HEADER_LIST_SIZE, limits.headerBytes],
    ]);
    this.#outbox.windowUpdate(0, limits.connectionWindow - DEFAULT_WINDOW);
  }

  /** No new streams; when those under way have ended, so does the connection. */
  close(): void {
    if (this.#isClosing || this.#isClosed) return;
    this.#isClosing = true;
    this.#outbox.goAway(this.#lastId, ERROR.NO_ERROR, "");
    this.#endWhenIdle();
  }

  destroy(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    clearInterval(this.#asking);
    clearTimeout(this.#lateness);
    this.#socket.destroy();
    for (const stream of this.#streams.values()) stream.closed();
    this.#streams.clear();
    this.#options.answers.release(this);
    this.#options.onClose(this.#isFlood);
  }

  /** Too much waits to be sent. */
  cut(): void {
    this.destroy();
  }

  welcome(): void {
    const { streams } = this.#options.limits;
    if (this.#mostStreams === streams) return;
    this.#mostStreams = streams;
    this.#wasted.raise(streams);
    this.#outbox.settings([[SETTING.MAX_CONCURRENT_STREAMS, streams]]);
  }

  waits(bytes: number): void {
    this.#outbox.waits(bytes);
  }

  whenRoom(stream: Stream, then: () => void): void {
    this.#outbox.whenRoom(stream, then);
  }

  send(stream: Stream): void {
    this.#outbox.send(stream);
  }

  sendHeaders(stream: Stream, block: Buffer, isEnd: boolean): void {
    this.#outbox.headers(stream.id, block, isEnd);
    if (isEnd) this.#ended(stream);
  }

  sendData(stream: Stream, bytes: Uint8Array): boolean {
    return this.#outbox.data(stream, bytes);
  }

  sendWhole(stream: Stream, answer: WholeResponse): boolean {
    if (!this.#outbox.whole(stream, answer)) return false;
    this.#ended(stream);
    return true;
  }

  credit(stream: Stream, bytes: number): void {
    stream.uncredited += bytes;
    // A small request is over before that is worth a frame.
    if (stream.uncredited < this.#options.limits.streamWindow / 2) return;
    this.#outbox.windowUpdate(stream.id, stream.uncredited);
    stream.receiveWindow += stream.uncredited;
    stream.uncredited = 0;
  }

  reset(stream: Stream, number: ErrorNumber): void {
    this.#resetId(stream.id, number);
    this.#forget(stream);
  }

  /** We have said all. A caller that has not is told that we want no more. */
  #ended(stream: Stream): void {
    stream.isLocalEnded = true;
    this.#wasted.give();
    if (!stream.isRemoteEnded) this.#resetId(stream.id, ERROR.NO_ERROR);
    this.#forget(stream);
  }

  #forget(stream: Stream): void {
    this.#streams.delete(stream.id);
    this.#outbox.forget(stream);
    stream.closed();
    this.#endWhenIdle();
  }

  #resetId(id: number, number: ErrorNumber): void {
    this.#outbox.reset(id, number);
    this.#wereReset.add(id);
    if (this.#wereReset.size <= RESETS_KEPT) return;
    for (const oldest of this.#wereReset) {
      this.#wereReset.delete(oldest);
      return;
    }
  }

  #endWhenIdle(): void {
    if (!this.#isClosing || this.#streams.size > 0 || this.#isClosed) return;
    this.#outbox.end();
    setTimeout(() => this.destroy(), LAST_WORDS_MS).unref();
  }

  #fail(number: ErrorNumber, message: string): void {
    if (this.#isClosed) return;
    this.#outbox.goAway(this.#lastId, number, message);
    this.#outbox.end();
    this.#socket.removeAllListeners("data");
    this.#socket.resume();
    for (const stream of this.#streams.values()) stream.closed();
    this.#streams.clear();
    this.#isFlood = number === ERROR.ENHANCE_YOUR_CALM;
    setTimeout(() => this.destroy(), LAST_WORDS_MS).unref();
  }

  #askWhetherThere(): void {
    this.#outbox.ping();
    clearTimeout(this.#lateness);
    this.#lateness = setTimeout(() => this.destroy(), this.#options.limits.keepaliveTimeoutMs);
  }

  #read(chunk: Buffer): void {
    if (this.#isClosed) return;
    try {
      this.#parser.push(chunk);
    } catch (error) {
      const number = error instanceof ConnectionError ? error.number : ERROR.INTERNAL_ERROR;
      this.#fail(number, error instanceof ConnectionError ? error.message : "");
    }
  }

  #take(frame: Frame): void {
    if (this.#isClosed) return;
    switch (frame.type) {
      case FRAME.DATA:
        return this.#data(frame);
      case FRAME.HEADERS:
        return this.#headers(frame);
      case FRAME.PRIORITY:
        return this.#priority(frame);
      case FRAME.RST_STREAM:
        return this.#wasReset(frame);
      case FRAME.SETTINGS:
        return this.#settings(frame);
      case FRAME.PUSH_PROMISE:
        throw wrong("a client cannot push");
      case FRAME.PING:
        return this.#ping(frame);
      case FRAME.GOAWAY:
        if (frame.id !== 0) throw wrong("GOAWAY on a stream");
        return;
      case FRAME.WINDOW_UPDATE:
        return this.#windowUpdate(frame);
      // Other types are extensions, which we do not know and need not.
    }
  }

  #data({ id, flags, payload, length }: Frame): void {
    const stream = this.#streams.get(id);
    if (!stream && (id === 0 || id > this.#lastId)) throw wrong("DATA on no stream");
    this.#received(length);
    if (!stream) {
      this.#parser.countIdle();
      if (!this.#wereReset.has(id)) this.#resetId(id, ERROR.STREAM_CLOSED);
      return;
    }
    if (stream.isRemoteEnded) return this.reset(stream, ERROR.STREAM_CLOSED);
    stream.receiveWindow -= length;
    if (stream.receiveWindow < 0) return this.reset(stream, ERROR.FLOW_CONTROL_ERROR);
    if (length > payload.length) stream.consumed(length - payload.length);
    stream.dataBytes += payload.length;
    const isLast = (flags & FLAG.END_STREAM) !== 0;
    if (payload.length > 0) stream.received(payload, isLast);
    if (isLast) this.#remoteEnded(stream);
  }

  #remoteEnded(stream: Stream): void {
    if (stream.isClosed) return;
    const promised = stream.headers.get("content-length");
    if (promised !== undefined && Number(promised) !== stream.dataBytes) {
      return this.reset(stream, ERROR.PROTOCOL_ERROR);
    }
    stream.remoteEnded();
  }

  /** For the whole connection credit is given as it is used: streams have their own. */
  #received(bytes: number): void {
    this.#receiveWindow -= bytes;
    if (this.#receiveWindow < 0) {
      throw new ConnectionError(ERROR.FLOW_CONTROL_ERROR, "more than there was credit for");
    }
    this.#receivedBytes += bytes;
    if (this.#receivedBytes < this.#options.limits.connectionWindow / 2) return;
    this.#outbox.windowUpdate(0, this.#receivedBytes);
    this.#receiveWindow += this.#receivedBytes;
    this.#receivedBytes = 0;
  }

  #headers({ id, flags, payload }: Frame): void {
    if (id % 2 === 0) throw wrong("a stream of a client has an odd number");
    const isEnd = (flags & FLAG.END_STREAM) !== 0;
    // Also of what is refused: the next block may refer to it.
    const fields = this.#decoder.decode(payload);
    const stream = this.#streams.get(id);
    if (stream) return this.#trailers(stream, fields, isEnd);
    if (id > this.#lastId) return this.#open(id, fields, isEnd);
    if (this.#wereReset.has(id)) return this.#wasted.take();
    throw new ConnectionError(ERROR.STREAM_CLOSED, `stream ${id} is closed`);
  }

  #trailers(stream: Stream, fields: readonly Field[] | undefined, isEnd: boolean): void {
    if (stream.isRemoteEnded) return this.reset(stream, ERROR.STREAM_CLOSED);
    if (!isEnd || !fields || !areTrailers(fields)) {
      return this.reset(stream, ERROR.PROTOCOL_ERROR);
    }
    this.#remoteEnded(stream);
  }

  #open(id: number, fields: readonly Field[] | undefined, isEnd: boolean): void {
    this.#lastId = id;
    const { limits, onStream } = this.#options;
    const isFull = this.#streams.size >= this.#mostStreams || !this.#outbox.hasRoom;
    if (this.#isClosing || isFull) return this.#refuseId(id, ERROR.REFUSED_STREAM);
    if (!fields) return this.#refuseId(id, ERROR.ENHANCE_YOUR_CALM);
    const headers = requestHeaders(fields);
    if (!headers) return this.#refuseId(id, ERROR.PROTOCOL_ERROR);
    const stream = new Stream(this, {
      id,
      headers,
      socket: this.#socket,
      receiveWindow: limits.streamWindow,
    });
    this.#streams.set(id, stream);
    onStream(stream);
    if (isEnd) this.#remoteEnded(stream);
  }

  #refuseId(id: number, number: ErrorNumber): void {
    this.#resetId(id, number);
    this.#wasted.take();
  }

  #priority({ id, payload }: Frame): void {
    if (id === 0) throw wrong("PRIORITY on no stream");
    if (payload.length !== 5) return this.#streamError(id, ERROR.FRAME_SIZE_ERROR);
    const isItself = (payload.readUInt32BE(0) & 0x7fffffff) === id;
    if (isItself) this.#streamError(id, ERROR.PROTOCOL_ERROR);
  }

  #streamError(id: number, number: ErrorNumber): void {
    const stream = this.#streams.get(id);
    if (stream) this.reset(stream, number);
    else this.#resetId(id, number);
  }

  #wasReset({ id, payload }: Frame): void {
    if (payload.length !== 4) throw tooLong();
    if (id === 0 || id > this.#lastId) throw wrong("RST_STREAM on no stream");
    const stream = this.#streams.get(id);
    if (!stream) return;
    this.#forget(stream);
    this.#wasted.take();
  }

  #settings({ id, flags, payload }: Frame): void {
    if (id !== 0) throw wrong("SETTINGS on a stream");
    if (flags & FLAG.ACK) {
      if (payload.length > 0) throw tooLong();
      return;
    }
    this.#settingsSent.take();
    // First the word that it was heard, then what it lets us send.
    this.#outbox.settingsAck();
    const window = initialWindowIn(payload);
    if (window !== undefined) this.#outbox.resizeWindows(window);
  }

  #ping({ id, flags, payload }: Frame): void {
    if (payload.length !== 8) throw tooLong();
    if (id !== 0) throw wrong("PING on a stream");
    if (flags & FLAG.ACK) clearTimeout(this.#lateness);
    else this.#outbox.pingAck(payload);
  }

  #windowUpdate({ id, payload }: Frame): void {
    if (payload.length !== 4) throw tooLong();
    const increment = payload.readUInt32BE(0) & 0x7fffffff;
    if (id === 0) {
      if (increment === 0) throw wrong("WINDOW_UPDATE by 0");
      return this.#outbox.grow(increment);
    }
    if (id > this.#lastId) throw wrong("WINDOW_UPDATE on no stream");
    const stream = this.#streams.get(id);
    if (!stream) return this.#parser.countIdle();
    if (increment === 0) return this.reset(stream, ERROR.PROTOCOL_ERROR);
    if (!this.#outbox.grant(stream, increment)) this.reset(stream, ERROR.FLOW_CONTROL_ERROR);
  }
}
