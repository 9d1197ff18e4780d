/**
 * Server-sent events, as bytes in and messages out. Everything is bounded: a line or a message that
 * never ends is an error, not memory. Only new bytes are looked at, so that a long line that comes
 * in many pieces costs its length and not the square of it.
 */
import { StringDecoder } from "node:string_decoder";
import { RollcallError } from "../../core/errors.ts";
import { CLIENT } from "./limits.ts";

export interface SseMessage {
  readonly event: string;
  readonly data: string;
  /** The last id seen, on this message or before it. */
  readonly id: string;
}

export interface SseLimits {
  readonly lineLength: number;
  readonly eventLength: number;
}

const BYTE_ORDER_MARK = "\uFEFF";

export class SseParser {
  readonly #limits: SseLimits;
  readonly #decoder = new StringDecoder("utf8");
  /** The pieces of a line whose end is yet to come. */
  #pieces: string[] = [];
  #pending = 0;
  #isFirst = true;
  #endedWithReturn = false;
  #event = "";
  #data: string[] = [];
  #size = 0;
  #id = "";
  /** How long the server asks to wait before connecting again. */
  retryMs: number | undefined;

  constructor(limits: SseLimits = CLIENT) {
    this.#limits = limits;
  }

  /** The messages that these bytes complete. */
  push(bytes: Buffer): readonly SseMessage[] {
    const messages: SseMessage[] = [];
    for (const line of this.#lines(this.#decoder.write(bytes))) {
      const message = line === "" ? this.#finish() : this.#take(line);
      if (message) messages.push(message);
    }
    return messages;
  }

  *#lines(text: string): Generator<string> {
    let start = this.#endedWithReturn && text.startsWith("\n") ? 1 : 0;
    if (text !== "") this.#endedWithReturn = text.endsWith("\r");
    for (const end of text.matchAll(/\r\n|\n|\r/g)) {
      if (end.index < start) continue;
      yield this.#complete(text.slice(start, end.index));
      start = end.index + end[0].length;
    }
    if (start < text.length) this.#keep(text.slice(start));
  }

  #complete(rest: string): string {
    this.#keep(rest);
    const line = this.#pieces.join("");
    this.#pieces = [];
    this.#pending = 0;
    if (!this.#isFirst) return line;
    this.#isFirst = false;
    return line.startsWith(BYTE_ORDER_MARK) ? line.slice(1) : line;
  }

  #keep(piece: string): void {
    this.#pending += piece.length;
    if (this.#pending > this.#limits.lineLength) {
      throw tooLarge("a line", this.#limits.lineLength);
    }
    this.#pieces.push(piece);
  }

  #take(line: string): undefined {
    const colon = line.indexOf(":");
    const name = colon === -1 ? line : line.slice(0, colon);
    const rest = colon === -1 ? "" : line.slice(colon + 1);
    const value = rest.startsWith(" ") ? rest.slice(1) : rest;
    switch (name) {
      case "event":
        this.#event = value;
        return;
      case "data":
        this.#size += value.length + 1;
        if (this.#size > this.#limits.eventLength) {
          throw tooLarge("an event", this.#limits.eventLength);
        }
        this.#data.push(value);
        return;
      case "id":
        if (!value.includes("\0")) this.#id = value;
        return;
      case "retry":
        if (/^\d{1,9}$/.test(value)) this.retryMs = Number(value);
        return;
      default:
      // A comment, or a field of a later version.
    }
  }

  #finish(): SseMessage | undefined {
    const message = { event: this.#event || "message", data: this.#data.join("\n"), id: this.#id };
    const isMessage = this.#data.length > 0;
    this.#event = "";
    this.#data = [];
    this.#size = 0;
    return isMessage ? message : undefined;
  }
}

function tooLarge(what: string, limit: number): RollcallError {
  return new RollcallError("TOO_LARGE", `${what} of the stream is longer than ${limit} characters`);
}
