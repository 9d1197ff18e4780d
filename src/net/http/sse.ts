/**
 * Server-sent events, as bytes in and messages out. `eventsource-parser` reads the lines; here are
 * the bytes of a character that comes in two pieces, the id that holds for later messages too, and
 * the bound: an event that never ends is an error, not memory.
 */
import { createParser } from "eventsource-parser";
import { RollcallError } from "../../core/errors.ts";
import { HTTP_CLIENT } from "./limits.ts";

export interface SseMessage {
  readonly event: string;
  readonly data: string;
  /** The last id seen, on this message or before it. */
  readonly id: string;
}

export class SseParser {
  readonly #decoder = new TextDecoder();
  readonly #parser;
  #messages: SseMessage[] = [];
  #id = "";
  /** How long the server asks to wait before connecting again. */
  retryMs: number | undefined;

  constructor(maxLength: number = HTTP_CLIENT.eventLength) {
    this.#parser = createParser({
      maxBufferSize: maxLength,
      onEvent: ({ event = "message", data, id = this.#id }) => {
        // The parser looks at the size of what it keeps, not of what came whole.
        if (data.length > maxLength) throw tooLarge(maxLength);
        this.#id = id;
        this.#messages.push({ event, data, id });
      },
      onRetry: (retryMs) => (this.retryMs = retryMs),
      onError: ({ type }) => {
        if (type === "max-buffer-size-exceeded") throw tooLarge(maxLength);
      },
    });
  }

  /** The messages that these bytes complete. */
  push(bytes: Buffer): readonly SseMessage[] {
    this.#messages = [];
    this.#parser.feed(this.#decoder.decode(bytes, { stream: true }));
    return this.#messages;
  }
}

function tooLarge(limit: number): RollcallError {
  return new RollcallError(
    "TOO_LARGE",
    `an event of the stream is longer than ${limit} characters`,
  );
}
