/**
 * One request of a connection is answered at a time. Node begins with all that a client sends at
 * once, and keeps their answers until the first was read: a few bytes each would cost an answer.
 *
 *   request ──none before it──▶ answered ──its answer is out──▶ the next
 *           └─else─▶ held ──too many, or no room──▶ the connection is cut
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { KIB } from "../core/units.ts";
import type { Waiter, WaitingBytes } from "../net/waiting.ts";

/** The memory that Node keeps for a request and its answer, about. */
const REQUEST_BYTES = 4 * KIB;

export interface AnswerTurnsOptions {
  readonly requests: WaitingBytes;
  /** Behind the one that is answered. */
  readonly most: number;
}

export class AnswerTurns {
  readonly #options: AnswerTurnsOptions;
  /** The answer that is made, by its connection. */
  readonly #current = new WeakMap<Socket, ServerResponse>();
  readonly #lines = new WeakMap<Socket, RequestLine>();

  constructor(options: AnswerTurnsOptions) {
    this.#options = options;
  }

  /** Calls when it is the turn of this request, at once where none is before it. */
  take({ socket }: IncomingMessage, response: ServerResponse, answer: () => void): void {
    // Node gives an answer its socket when those before it are out.
    if (response.socket) {
      this.#current.set(socket, response);
      return answer();
    }
    const current = this.#current.get(socket);
    if (!current) return answer();
    if (socket.destroyed) return;
    const line = this.#lines.get(socket) ?? new RequestLine(socket, this.#options);
    if (line.isEmpty) {
      this.#lines.set(socket, line);
      current.once("finish", () => this.#next(socket, line));
    }
    line.add({ response, answer });
  }

  #next(socket: Socket, line: RequestLine): void {
    const next = line.shift();
    if (!next) return;
    this.#current.set(socket, next.response);
    if (!line.isEmpty) next.response.once("finish", () => this.#next(socket, line));
    next.answer();
  }
}

interface HeldRequest {
  readonly response: ServerResponse;
  answer(): void;
}

/** The requests of a connection that wait for their turn. */
class RequestLine implements Waiter {
  readonly #socket: Socket;
  readonly #options: AnswerTurnsOptions;
  readonly #held: HeldRequest[] = [];

  constructor(socket: Socket, options: AnswerTurnsOptions) {
    this.#socket = socket;
    this.#options = options;
    socket.once("close", () => options.requests.release(this));
  }

  get isEmpty(): boolean {
    return this.#held.length === 0;
  }

  add(request: HeldRequest): void {
    this.#held.push(request);
    if (this.#held.length > this.#options.most) return this.cut();
    this.#count();
  }

  shift(): HeldRequest | undefined {
    const next = this.#held.shift();
    this.#count();
    return next;
  }

  #count(): void {
    const { requests } = this.#options;
    if (this.isEmpty) requests.release(this);
    else requests.hold(this, this.#held.length * REQUEST_BYTES);
  }

  cut(): void {
    this.#options.requests.release(this);
    this.#held.length = 0;
    this.#socket.destroy();
  }
}
