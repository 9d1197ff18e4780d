/** A call with messages both ways: sent at any time, and pulled as those of any other stream. */
import type { ClientHttp2Stream } from "node:http2";
import type { RollcallError } from "../../core/errors.ts";
import { framed } from "./frames.ts";
import type { MessageStream } from "./client-stream.ts";

export class Conversation {
  readonly #http2: ClientHttp2Stream;
  readonly #stream: MessageStream;

  constructor(http2: ClientHttp2Stream, stream: MessageStream) {
    this.#http2 = http2;
    this.#stream = stream;
  }

  /** After the end it does nothing: `next` says so. */
  send(message: Uint8Array): void {
    if (!this.#stream.ending && !this.#http2.writableEnded) this.#http2.write(framed(message));
  }

  /** Bytes that were sent and that the server has not taken yet. */
  get waitingBytes(): number {
    return this.#http2.writableLength;
  }

  /** Calls whenever nothing waits any more. */
  onDrained(tell: () => void): void {
    this.#http2.on("drain", tell);
  }

  /** The next message; nothing at a good end. Throws why it ended otherwise. */
  next(): Promise<Buffer | undefined> {
    return this.#stream.next();
  }

  /** Nothing more will be sent; the server may go on. */
  finish(): void {
    if (!this.#stream.ending) this.#http2.end();
  }

  cancel(error: RollcallError): void {
    this.#stream.cancel(error);
  }
}
