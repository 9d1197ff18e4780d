/**
 * One call on a session, as messages that are pulled: the others are not read, and then the
 * server may not send. Whatever ends the call, it ends once, with an error of ours that says
 * whether the server surely never acted on it.
 *
 *   sent ──headers──▶ open ──message, message …──▶ trailers ──▶ ended
 *     └── refused, reset, connection lost, cancelled, garbage ────┘
 */
import {
  constants,
  type ClientHttp2Stream,
  type IncomingHttpHeaders,
  type IncomingHttpStatusHeader,
} from "node:http2";
import { RollcallError, type ErrorCode } from "../../core/errors.ts";
import { FrameReader } from "./frames.ts";
import { errorIn } from "./status.ts";

export interface CallEnd {
  /** Absent when it ended well. */
  readonly error?: RollcallError;
  /** The server surely did not act on it: sending it again is always safe. */
  readonly isUnprocessed: boolean;
}

export interface StreamOptions {
  readonly maxBytes: number;
  /** Whether the session has ended, and why it did or may have. */
  readonly isGone: () => boolean;
  readonly trouble: () => string;
}

const WELL: CallEnd = { isUnprocessed: false };

export class MessageStream {
  readonly #stream: ClientHttp2Stream;
  readonly #options: StreamOptions;
  readonly #reader: FrameReader;
  readonly #messages: Buffer[] = [];
  #headers: (IncomingHttpHeaders & IncomingHttpStatusHeader) | undefined;
  #trailers: IncomingHttpHeaders | undefined;
  #ending: CallEnd | undefined;
  readonly #endings: (() => void)[] = [];
  #wake: () => void = () => undefined;

  constructor(stream: ClientHttp2Stream, options: StreamOptions) {
    this.#stream = stream;
    this.#options = options;
    this.#reader = new FrameReader(options.maxBytes);
    stream.on("response", (headers) => {
      this.#headers = headers;
      if ("grpc-status" in headers) this.#trailers = headers;
      this.#wake();
    });
    stream.on("trailers", (trailers: IncomingHttpHeaders) => (this.#trailers = trailers));
    stream.on("data", (chunk: Buffer) => this.#take(chunk));
    // Said by what follows: it always closes.
    stream.on("error", () => undefined);
    stream.on("close", () => this.#end(this.#endingOf()));
    stream.pause();
  }

  /** Absent until it has ended. */
  get ending(): CallEnd | undefined {
    return this.#ending;
  }

  /** Calls when it has ended; at once when it has already. */
  whenEnded(tell: () => void): void {
    if (this.#ending) tell();
    else this.#endings.push(tell);
  }

  /** The metadata, of headers and trailers. */
  header(name: string): string | undefined {
    return lookup(this.#headers ?? {})(name) ?? lookup(this.#trailers ?? {})(name);
  }

  /** Resolves when the server has begun to answer. Throws when the call ends without that. */
  async opened(): Promise<void> {
    while (!this.#ending && (!this.#headers || this.#trailers === this.#headers)) {
      this.#stream.resume();
      await this.#word();
    }
    if (this.#ending?.error && this.#messages.length === 0) throw this.#ending.error;
  }

  /** The next message; nothing at a good end. Throws why it ended otherwise. */
  async next(): Promise<Buffer | undefined> {
    for (;;) {
      const message = this.#messages.shift();
      if (message) return message;
      if (this.#ending?.error) throw this.#ending.error;
      if (this.#ending) return undefined;
      this.#stream.resume();
      await this.#word();
    }
  }

  /** Idempotent. Ends here and now, however long the connection takes to say so. */
  cancel(error: RollcallError): void {
    if (this.#ending) return;
    const isUnprocessed = this.#stream.pending;
    this.#stream.close(constants.NGHTTP2_CANCEL);
    this.#end({ error, isUnprocessed });
  }

  #word(): Promise<void> {
    return new Promise((resolve) => (this.#wake = resolve));
  }

  #take(chunk: Buffer): void {
    try {
      this.#messages.push(...this.#reader.push(chunk));
    } catch (error) {
      this.cancel(error instanceof RollcallError ? error : internal(String(error)));
    }
    if (this.#messages.length > 0) this.#stream.pause();
    this.#wake();
  }

  #end(ending: CallEnd): void {
    if (this.#ending) return;
    this.#ending = ending;
    for (const tell of this.#endings.splice(0)) tell();
    this.#wake();
  }

  #endingOf(): CallEnd {
    const { rstCode, pending } = this.#stream;
    if (pending || rstCode === constants.NGHTTP2_REFUSED_STREAM) {
      return { error: unavailable(this.#options.trouble()), isUnprocessed: true };
    }
    const trailers = this.#trailers;
    if (trailers) {
      const error = errorIn(lookup(trailers)) ?? this.#brokenOff();
      return error ? { error, isUnprocessed: false } : WELL;
    }
    return { error: this.#withoutTrailers(), isUnprocessed: false };
  }

  #brokenOff(): RollcallError | undefined {
    return this.#reader.isBetweenMessages ? undefined : internal("the answer ends in mid-message");
  }

  #withoutTrailers(): RollcallError {
    const status = this.#headers?.[":status"];
    if (status !== undefined && status !== 200) {
      const code = HTTP_CODES[status] ?? "INTERNAL";
      return new RollcallError(code, `HTTP status ${status}: the server does not speak gRPC`);
    }
    switch (this.#stream.rstCode) {
      case constants.NGHTTP2_NO_ERROR:
        if (this.#options.isGone()) return unavailable(this.#options.trouble());
        return internal("the answer has no status: the server does not speak gRPC");
      case constants.NGHTTP2_CANCEL:
        // Not cancelled on this side: the connection went, or the server is going.
        return unavailable(this.#options.trouble());
      case constants.NGHTTP2_ENHANCE_YOUR_CALM:
        return new RollcallError(
          "LIMIT_EXCEEDED",
          "the server limits how much is asked at once: retry later",
        );
      default:
        return unavailable(`the call was reset with HTTP/2 code ${this.#stream.rstCode}`);
    }
  }
}

/** As gRPC says these are to be understood. */
const HTTP_CODES: Readonly<Record<number, ErrorCode>> = {
  401: "UNAUTHENTICATED",
  403: "PERMISSION_DENIED",
  404: "UNIMPLEMENTED",
  429: "UNAVAILABLE",
  502: "UNAVAILABLE",
  503: "UNAVAILABLE",
  504: "UNAVAILABLE",
};

function lookup(headers: IncomingHttpHeaders): (name: string) => string | undefined {
  return (name) => {
    const value = headers[name];
    return Array.isArray(value) ? value[0] : value;
  };
}

function unavailable(message: string): RollcallError {
  return new RollcallError("UNAVAILABLE", message);
}

function internal(message: string): RollcallError {
  return new RollcallError("INTERNAL", message);
}
