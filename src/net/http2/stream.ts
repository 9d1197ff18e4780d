/**
 * One call on a connection: what comes, what goes, and the two ends of it.
 *
 *            the caller ends        we end
 *   open ──▶ half closed ──────────────▶ closed
 *     │                                    ▲
 *     └── reset by either, connection gone ┘
 *
 * Received data is handed on at once; the window grows when the receiver has consumed it. Data to
 * send waits here until the other side has room, and the sender is asked to wait (back-pressure).
 */
import type { Socket } from "node:net";
import { ERROR, type ErrorNumber } from "./codes.ts";

/** The connection, as far as a stream needs it. */
export interface Carrier {
  /** Sends what waits, as far as there is room. */
  send(stream: Stream): void;
  sendHeaders(stream: Stream, block: Buffer, isEnd: boolean): void;
  /** One piece of data at once, if there is room for it and none waits. */
  sendData(stream: Stream, bytes: Uint8Array): boolean;
  /** All of an answer at once, if there is room for it. */
  sendWhole(stream: Stream, answer: WholeResponse): boolean;
  credit(stream: Stream, bytes: number): void;
  /** So much more of a stream waits to be sent, or less. */
  waits(bytes: number): void;
  /** Calls when an answer may be made; never for a stream that is closed by then. */
  whenRoom(stream: Stream, then: () => void): void;
  /** Its caller is known: it may have more streams. */
  welcome(): void;
  reset(stream: Stream, number: ErrorNumber): void;
}

export interface WholeResponse {
  readonly headers: Buffer;
  readonly data: Uint8Array;
  readonly trailers: Buffer;
}

/** Receives the data of a stream. */
export interface DataReceiver {
  /** A part of what the socket read: to be copied where it is kept. */
  data(chunk: Buffer, isLast: boolean): void;
  /** The caller has said all. */
  end(): void;
}

/** Bytes that may wait in a stream before its sender is asked to stop. */
const HIGH_WATER_BYTES = 64 * 1024;

export class Stream {
  readonly id: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly socket: Socket;
  readonly #carrier: Carrier;
  #taker: DataReceiver | undefined;
  #onDrain: (() => void) | undefined;
  /** Called once, when nothing more comes or goes. */
  onClose: (() => void) | undefined;

  /**
   * For the connection: what may be sent beyond the window that every stream of it has, what may
   * still be received, and what waits to be sent.
   */
  sendCredit = 0;
  receiveWindow: number;
  /** Taken, and credit not yet given for it. */
  uncredited = 0;
  readonly waiting: Uint8Array[] = [];
  waitingBytes = 0;
  /** Sent after the last data; then the stream is over. */
  trailers: Buffer | undefined;
  /** Bytes received so far. */
  dataBytes = 0;
  isRemoteEnded = false;
  isLocalEnded = false;
  isClosed = false;

  constructor(
    carrier: Carrier,
    start: {
      readonly id: number;
      readonly headers: ReadonlyMap<string, string>;
      readonly socket: Socket;
      readonly receiveWindow: number;
    },
  ) {
    this.#carrier = carrier;
    this.id = start.id;
    this.headers = start.headers;
    this.socket = start.socket;
    this.receiveWindow = start.receiveWindow;
  }

  /** Sets the receiver of its data, when the stream is opened; without one data is dropped. */
  take(taker: DataReceiver): void {
    this.#taker = taker;
  }

  welcome(): void {
    this.#carrier.welcome();
  }

  /** So much of what came is dealt with: as much more may come. */
  consumed(bytes: number): void {
    if (!this.isClosed && !this.isRemoteEnded) this.#carrier.credit(this, bytes);
  }

  respond(block: Buffer): void {
    if (!this.isClosed) this.#carrier.sendHeaders(this, block, false);
  }

  /** False when enough waits; `drained` tells when that has changed. */
  write(bytes: Uint8Array): boolean {
    if (this.isClosed || this.trailers) return false;
    if (this.#carrier.sendData(this, bytes)) return true;
    this.#queue(bytes);
    this.#carrier.send(this);
    return this.hasRoom;
  }

  /** Whether more may be written. */
  get hasRoom(): boolean {
    return this.waitingBytes < HIGH_WATER_BYTES;
  }

  /** Calls when what waited was sent; not when the stream closes. */
  drained(then: (() => void) | undefined): void {
    this.#onDrain = then;
    if (this.waitingBytes === 0) this.wasSent();
  }

  end(trailers: Buffer): void {
    if (this.isClosed || this.trailers) return;
    this.trailers = trailers;
    this.#carrier.send(this);
  }

  /** Headers that are also the end. */
  endWith(block: Buffer): void {
    if (!this.isClosed) this.#carrier.sendHeaders(this, block, true);
  }

  /** Headers, one piece of data, trailers. */
  answer(answer: WholeResponse): void {
    if (this.isClosed || this.#carrier.sendWhole(this, answer)) return;
    this.respond(answer.headers);
    this.#queue(answer.data);
    this.end(answer.trailers);
  }

  /** Calls when an answer may be made: at once, where the client reads those before it. */
  whenRoom(then: () => void): void {
    if (!this.isClosed) this.#carrier.whenRoom(this, then);
  }

  /** Ends it at once, with what waits. */
  reset(number: ErrorNumber = ERROR.CANCEL): void {
    if (!this.isClosed) this.#carrier.reset(this, number);
  }

  /** For the connection. */
  received(chunk: Buffer, isLast: boolean): void {
    this.#taker?.data(chunk, isLast);
  }

  remoteEnded(): void {
    this.isRemoteEnded = true;
    this.#taker?.end();
  }

  wasSent(): void {
    const then = this.#onDrain;
    this.#onDrain = undefined;
    then?.();
  }

  closed(): void {
    if (this.isClosed) return;
    this.isClosed = true;
    if (this.waitingBytes > 0) this.#carrier.waits(-this.waitingBytes);
    this.waiting.length = 0;
    this.waitingBytes = 0;
    this.onClose?.();
  }

  #queue(bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    this.waiting.push(bytes);
    this.waitingBytes += bytes.length;
    this.#carrier.waits(bytes.length);
  }
}
