/**
 * One call on the server's side, from its headers to its trailers.
 *
 *   headers ──▶ open ──▶ answered      once, by whoever comes first:
 *                 │                    the handler, its failure, the deadline
 *                 └──▶ gone            cancelled, disconnected
 *
 * One is made for every heartbeat of every agent, so what few calls need is made when asked for.
 */
import { constants, type IncomingHttpHeaders, type ServerHttp2Stream } from "node:http2";
import { RollcallError } from "../core/errors.ts";
import type { Call } from "./service.ts";
import { grpcStatusOf, trailersOf, type GrpcStatus } from "./status.ts";
import { parseTimeout } from "./timeout.ts";

const CONTENT_TYPE = "application/grpc";
/** What a timer can wait, and longer than any call lives. */
const LONGEST_MS = 2 ** 31 - 1;

export class ServerCall implements Call {
  readonly stream: ServerHttp2Stream;
  readonly #headers: IncomingHttpHeaders;
  #abort: AbortController | undefined;
  #deadline: NodeJS.Timeout | undefined;
  #told: Record<string, string> | undefined;
  #isBegun = false;
  #isAnswered = false;
  /** Called when nothing more comes or goes. */
  onClose: (() => void) | undefined;

  constructor(stream: ServerHttp2Stream, headers: IncomingHttpHeaders) {
    this.stream = stream;
    this.#headers = headers;
    // One listener for all that depends on it: each costs as much as a look at the headers.
    stream.on("close", () => {
      clearTimeout(this.#deadline);
      this.#giveUp("CANCELLED", GONE);
      this.onClose?.();
    });
  }

  get signal(): AbortSignal {
    this.#abort ??= new AbortController();
    if (this.isOver) this.#giveUp("CANCELLED", GONE);
    return this.#abort.signal;
  }

  /** Whether nothing can be sent any more. */
  get isOver(): boolean {
    return this.#isAnswered || this.stream.destroyed || this.stream.closed;
  }

  header(name: string): string | undefined {
    const value = this.#headers[name];
    return Array.isArray(value) ? value[0] : value;
  }

  tell(name: string, value: string): void {
    this.#told ??= {};
    this.#told[name] = value;
  }

  /** From here on the caller's patience counts, if it said how long that is. */
  startDeadline(): void {
    const timeout = this.header("grpc-timeout");
    if (timeout === undefined) return;
    const ms = parseTimeout(timeout);
    if (ms === undefined) {
      throw new RollcallError("INVALID_ARGUMENT", "grpc-timeout is no length of time");
    }
    this.#deadline = setTimeout(() => this.#expire(), Math.min(ms, LONGEST_MS));
  }

  /** Sends what there is to say before the first message of a stream. */
  begin(): void {
    if (this.#isBegun || this.isOver) return;
    this.#isBegun = true;
    this.stream.respond({ ":status": 200, "content-type": CONTENT_TYPE, ...this.#told }, STREAMED);
  }

  /** The one answer, framed. */
  answer(frame: Buffer): void {
    if (this.isOver) return;
    this.begin();
    this.#isAnswered = true;
    this.stream.on("wantTrailers", sendOk);
    this.stream.end(frame);
  }

  /** The end of a stream that came to one. */
  end(): void {
    if (this.isOver) return;
    this.begin();
    this.#isAnswered = true;
    this.stream.on("wantTrailers", sendOk);
    this.stream.end();
  }

  fail(status: GrpcStatus): void {
    if (this.isOver) return;
    this.#isAnswered = true;
    const { stream } = this;
    const trailers = trailersOf(status);
    if (this.#isBegun) {
      stream.on("wantTrailers", () => stream.sendTrailers(trailers));
      stream.end();
    } else {
      const headers = { ":status": 200, "content-type": CONTENT_TYPE, ...this.#told, ...trailers };
      stream.respond(headers, { endStream: true });
    }
    if (!stream.readableEnded) stopReading(stream);
  }

  /** After this long the stream is let go of, whether everything was taken or not. */
  endWithin(ms: number): void {
    const { stream } = this;
    if (stream.closed || stream.destroyed) return;
    const timer = setTimeout(() => stream.destroy(), ms);
    stream.once("close", () => clearTimeout(timer));
  }

  #expire(): void {
    const message = "the time the caller gave for the answer is over";
    this.#giveUp("DEADLINE_EXCEEDED", message);
    this.fail(grpcStatusOf(new RollcallError("DEADLINE_EXCEEDED", message)));
  }

  #giveUp(code: "CANCELLED" | "DEADLINE_EXCEEDED", message: string): void {
    if (!this.#abort?.signal.aborted) this.#abort?.abort(new RollcallError(code, message));
  }
}

const GONE = "the caller went away";
/** Nobody reads the date. */
const STREAMED = { waitForTrailers: true, sendDate: false };

/** Shared by all calls; `this` is the stream. */
function sendOk(this: ServerHttp2Stream): void {
  this.sendTrailers({ "grpc-status": "0" });
}

/** The rest of what the caller sends is not wanted: it is told, and what is under way dropped. */
function stopReading(stream: ServerHttp2Stream): void {
  stream.resume();
  stream.close(constants.NGHTTP2_NO_ERROR);
}
