/**
 * Reads what matters out of a line that is too long to be parsed: an image, the contents of a file,
 * a hundred megabytes of either. The line comes in pieces, split anywhere, and none of it is kept
 * but short texts near the top: memory does not grow with the line.
 *
 *   { "method": …, "params": { "sessionId": …, "update": { "content": …, "status": … } } }
 *
 * Order does not matter, so a status behind the contents is found as well as one before. It gives
 * what JSON.parse gives, with long texts cut and what lies deep or is too much left out. It is
 * lenient: what is not JSON may come out as anything, which no rule minds.
 */
import { INSPECT } from "./limits.ts";

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const COMMA = 0x2c;
const COLON = 0x3a;
const SPACE = 0x20;
const TAB = 0x09;
const RETURN = 0x0d;

type Node = Record<string, unknown> | unknown[];

export class Skimmer {
  /** The containers around here that are kept; deeper ones are only counted. */
  readonly #around: { readonly node: Node; key: string | undefined }[] = [];
  #skippedDepth = 0;
  #root: unknown;
  /** How much is kept of what lies deep; the few fields near the top have their own share. */
  #deepNodes = 0;
  #topFields = 0;
  /** The bytes of the text or the number that is being read, as far as they are kept. */
  #bytes: Uint8Array[] = [];
  #byteCount = 0;
  #mode: "between" | "text" | "bare" = "between";
  #isEscaped = false;

  push(chunk: Uint8Array): void {
    let at = 0;
    while (at < chunk.length) {
      switch (this.#mode) {
        case "text":
          at = this.#readText(chunk, at);
          break;
        case "bare":
          at = this.#readBare(chunk, at);
          break;
        case "between":
          at = this.#readBetween(chunk, at);
      }
    }
  }

  /** What was found, and ready for the next line. */
  finish(): unknown {
    if (this.#mode === "bare") this.#endBare();
    const root = this.#root;
    this.#around.length = 0;
    this.#skippedDepth = 0;
    this.#root = undefined;
    this.#deepNodes = 0;
    this.#topFields = 0;
    this.#mode = "between";
    this.#isEscaped = false;
    this.#forgetBytes();
    return root;
  }

  #readBetween(chunk: Uint8Array, from: number): number {
    for (let at = from; at < chunk.length; at++) {
      const byte = chunk[at];
      switch (byte) {
        case QUOTE:
          this.#mode = "text";
          return at + 1;
        case OPEN_OBJECT:
        case OPEN_LIST:
          this.#enter(byte === OPEN_LIST ? [] : (Object.create(null) as Node));
          break;
        case CLOSE_OBJECT:
        case CLOSE_LIST:
          this.#leave();
          break;
        case COMMA:
        case COLON:
        case SPACE:
        case TAB:
        case RETURN:
          break;
        default:
          if (this.#skippedDepth > 0) break;
          this.#mode = "bare";
          return at;
      }
    }
    return chunk.length;
  }

  #readText(chunk: Uint8Array, from: number): number {
    let at = from;
    if (this.#isEscaped) {
      this.#isEscaped = false;
      at++;
    }
    for (;;) {
      const quote = chunk.indexOf(QUOTE, at);
      const end = quote === -1 ? chunk.length : quote;
      const isEscaped = endsEscaped(chunk, at, end);
      if (quote === -1) {
        this.#isEscaped = isEscaped;
        this.#keep(chunk, from, chunk.length);
        return chunk.length;
      }
      if (!isEscaped) {
        this.#keep(chunk, from, quote);
        this.#endText();
        return quote + 1;
      }
      at = quote + 1;
    }
  }

  #readBare(chunk: Uint8Array, from: number): number {
    let at = from;
    for (; at < chunk.length; at++) if (ENDS_BARE.has(chunk[at] ?? COMMA)) break;
    this.#keep(chunk, from, at);
    if (at < chunk.length) this.#endBare();
    return at;
  }

  #keep(chunk: Uint8Array, from: number, to: number): void {
    const room = INSPECT.textBytes - this.#byteCount;
    if (room <= 0 || to <= from || this.#skippedDepth > 0) return;
    const kept = Buffer.from(chunk.subarray(from, Math.min(to, from + room)));
    this.#bytes.push(kept);
    this.#byteCount += kept.length;
  }

  #endText(): void {
    this.#mode = "between";
    if (this.#skippedDepth > 0) return;
    const text = unescaped(Buffer.concat(this.#bytes).toString());
    this.#forgetBytes();
    const here = this.#around.at(-1);
    if (here !== undefined && !Array.isArray(here.node) && here.key === undefined) here.key = text;
    else this.#put(text);
  }

  #endBare(): void {
    this.#mode = "between";
    if (this.#skippedDepth > 0) return;
    const written = this.#bytes;
    this.#forgetBytes();
    this.#put(this.#hasRoom ? parsed(Buffer.concat(written).toString()) : undefined);
  }

  #forgetBytes(): void {
    this.#bytes = [];
    this.#byteCount = 0;
  }

  #enter(node: Node): void {
    if (this.#skippedDepth > 0 || this.#around.length >= INSPECT.depth || !this.#hasRoom) {
      this.#skippedDepth++;
      return;
    }
    this.#put(node, { keepsKey: true });
    this.#around.push({ node, key: undefined });
  }

  #leave(): void {
    if (this.#skippedDepth > 0) {
      this.#skippedDepth--;
      if (this.#skippedDepth > 0) return;
    } else {
      this.#around.pop();
    }
    const here = this.#around.at(-1);
    if (here !== undefined) here.key = undefined;
  }

  get #isNearTop(): boolean {
    return this.#around.length <= INSPECT.topDepth && !Array.isArray(this.#around.at(-1)?.node);
  }

  get #hasRoom(): boolean {
    if (this.#isNearTop) return this.#topFields < INSPECT.topFields;
    return this.#deepNodes < INSPECT.nodes;
  }

  #put(value: unknown, { keepsKey = false } = {}): void {
    const here = this.#around.at(-1);
    if (here === undefined) {
      this.#root ??= value;
      return;
    }
    const { node, key } = here;
    if (!keepsKey) here.key = undefined;
    if (!this.#hasRoom) return;
    if (this.#isNearTop) this.#topFields++;
    else this.#deepNodes++;
    if (Array.isArray(node)) node.push(value);
    else if (key !== undefined) node[key] = value;
  }
}

/** Whether an odd number of backslashes stands before the end. */
function endsEscaped(chunk: Uint8Array, from: number, end: number): boolean {
  let at = end;
  while (at > from && chunk[at - 1] === BACKSLASH) at--;
  return (end - at) % 2 === 1;
}

/** All that may follow a number or a word. */
const ENDS_BARE: ReadonlySet<number> = new Set([
  COMMA,
  COLON,
  QUOTE,
  OPEN_LIST,
  OPEN_OBJECT,
  CLOSE_LIST,
  CLOSE_OBJECT,
  SPACE,
  TAB,
  RETURN,
]);

/** A text that was cut may end within an escape; that end goes. */
function unescaped(written: string): string {
  if (!written.includes("\\")) return written;
  const whole = written.replace(/((?:^|[^\\])(?:\\\\)*)\\(?:u[\da-f]{0,3})?$/i, "$1");
  const value = parsed(`"${whole}"`);
  return typeof value === "string" ? value : "";
}

function parsed(written: string): unknown {
  try {
    return JSON.parse(written);
  } catch {
    return undefined;
  }
}
