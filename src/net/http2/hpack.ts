/**
 * Headers as HTTP/2 writes them (RFC 7541). What comes in may refer to what came before, so every
 * block must be decoded, in order, even one that is refused. What goes out refers to nothing: our
 * few headers are the same bytes on every connection, made once.
 */
import { ConnectionError, ERROR } from "./codes.ts";
import { huffmanDecoded } from "./huffman.ts";

export type Field = readonly [name: string, value: string];

const STATIC: readonly Field[] = [
  [":authority", ""],
  [":method", "GET"],
  [":method", "POST"],
  [":path", "/"],
  [":path", "/index.html"],
  [":scheme", "http"],
  [":scheme", "https"],
  [":status", "200"],
  [":status", "204"],
  [":status", "206"],
  [":status", "304"],
  [":status", "400"],
  [":status", "404"],
  [":status", "500"],
  ["accept-charset", ""],
  ["accept-encoding", "gzip, deflate"],
  ["accept-language", ""],
  ["accept-ranges", ""],
  ["accept", ""],
  ["access-control-allow-origin", ""],
  ["age", ""],
  ["allow", ""],
  ["authorization", ""],
  ["cache-control", ""],
  ["content-disposition", ""],
  ["content-encoding", ""],
  ["content-language", ""],
  ["content-length", ""],
  ["content-location", ""],
  ["content-range", ""],
  ["content-type", ""],
  ["cookie", ""],
  ["date", ""],
  ["etag", ""],
  ["expect", ""],
  ["expires", ""],
  ["from", ""],
  ["host", ""],
  ["if-match", ""],
  ["if-modified-since", ""],
  ["if-none-match", ""],
  ["if-range", ""],
  ["if-unmodified-since", ""],
  ["last-modified", ""],
  ["link", ""],
  ["location", ""],
  ["max-forwards", ""],
  ["proxy-authenticate", ""],
  ["proxy-authorization", ""],
  ["range", ""],
  ["referer", ""],
  ["refresh", ""],
  ["retry-after", ""],
  ["server", ""],
  ["set-cookie", ""],
  ["strict-transport-security", ""],
  ["transfer-encoding", ""],
  ["user-agent", ""],
  ["vary", ""],
  ["via", ""],
  ["www-authenticate", ""],
];

/** The size of a table entry beside its texts. */
const OVERHEAD_BYTES = 32;
/** The size of the dynamic table: the default, without SETTINGS. */
const TABLE_BYTES = 4_096;
/** Lengths and indexes need no more bits than this. */
const MAX_SHIFT = 28;

export class HeaderDecoder {
  readonly #maxListBytes: number;
  /** The newest first. */
  readonly #table: Field[] = [];
  #tableBytes = 0;
  #tableMostBytes = TABLE_BYTES;
  #block: Buffer = Buffer.alloc(0);
  #at = 0;

  constructor(maxListBytes: number) {
    this.#maxListBytes = maxListBytes;
  }

  /** Nothing when there are more headers than anybody takes; the table is right even then. */
  decode(block: Buffer): Field[] | undefined {
    this.#block = block;
    this.#at = 0;
    const fields: Field[] = [];
    let bytes = 0;
    let mayResize = true;
    while (this.#at < block.length) {
      const first = block[this.#at] ?? 0;
      if ((first & 0xe0) === 0x20) {
        if (!mayResize) throw broken("the table changes its size between headers");
        this.#resize(this.#integer(5));
        continue;
      }
      mayResize = false;
      const field = this.#field(first);
      bytes += weightOf(field);
      if (bytes <= this.#maxListBytes) fields.push(field);
    }
    return bytes <= this.#maxListBytes ? fields : undefined;
  }

  #field(first: number): Field {
    if (first & 0x80) return this.#known(this.#integer(7));
    const isKept = (first & 0xc0) === 0x40;
    const place = this.#integer(isKept ? 6 : 4);
    const name = place === 0 ? this.#text() : this.#known(place)[0];
    const field: Field = [name, name === ":path" ? this.#path() : this.#text()];
    if (isKept) this.#keep(field);
    return field;
  }

  #known(place: number): Field {
    const field =
      place <= STATIC.length ? STATIC[place - 1] : this.#table[place - STATIC.length - 1];
    if (!field) throw broken(`no header at ${place}`);
    return field;
  }

  #keep(field: Field): void {
    this.#table.unshift(field);
    this.#tableBytes += weightOf(field);
    this.#evict();
  }

  #resize(bytes: number): void {
    if (bytes > TABLE_BYTES) throw broken("a larger table than was agreed on");
    this.#tableMostBytes = bytes;
    this.#evict();
  }

  #evict(): void {
    while (this.#tableBytes > this.#tableMostBytes) {
      const oldest = this.#table.pop();
      if (!oldest) return;
      this.#tableBytes -= weightOf(oldest);
    }
  }

  /** Some clients spell the path of each call out again: of the usual ones it is known. */
  #path(): string {
    const from = this.#at;
    // The length is one byte where the text is short.
    const end = from + 1 + ((this.#block[from] ?? 0) & 0x7f);
    if (end > from + 0x7f || end > this.#block.length) return this.#text();
    const spelling = this.#block.toString("latin1", from, end);
    const known = paths.get(spelling);
    if (known === undefined) return learned(spelling, this.#text());
    this.#at = end;
    return known;
  }

  #text(): string {
    const isHuffman = ((this.#block[this.#at] ?? 0) & 0x80) !== 0;
    const length = this.#integer(7);
    const end = this.#at + length;
    if (end > this.#block.length) throw broken("a text goes beyond its block");
    const bytes = this.#block.subarray(this.#at, end);
    this.#at = end;
    return (isHuffman ? huffmanDecoded(bytes) : bytes).toString("latin1");
  }

  /** A number whose first bits share a byte with something else. */
  #integer(bits: number): number {
    const most = 2 ** bits - 1;
    let value = this.#byte() & most;
    if (value < most) return value;
    for (let shift = 0; shift <= MAX_SHIFT - 7; shift += 7) {
      const byte = this.#byte();
      value += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) return value;
    }
    throw broken("a number that is too large");
  }

  #byte(): number {
    const byte = this.#block[this.#at];
    if (byte === undefined) throw broken("a block ends in the middle");
    this.#at += 1;
    return byte;
  }
}

/** By how they are written, with their length. */
const paths = new Map<string, string>();
const MOST_PATHS = 512;

function learned(spelling: string, path: string): string {
  if (paths.size >= MOST_PATHS) paths.clear();
  paths.set(spelling, path);
  return path;
}

/** Headers as bytes that refer to nothing but the static table. */
export function encoded(fields: Iterable<Field>): Buffer {
  const parts: Buffer[] = [];
  for (const [name, value] of fields) {
    const exact = STATIC.findIndex((field) => field[0] === name && field[1] === value) + 1;
    if (exact > 0) {
      parts.push(Buffer.from([0x80 | exact]));
      continue;
    }
    const place = STATIC.findIndex((field) => field[0] === name) + 1;
    parts.push(Buffer.from(integer(place, 4)));
    if (place === 0) parts.push(text(name));
    parts.push(text(value));
  }
  return Buffer.concat(parts);
}

function text(value: string): Buffer {
  const bytes = Buffer.from(value, "latin1");
  return Buffer.concat([Buffer.from(integer(bytes.length, 7)), bytes]);
}

function integer(value: number, bits: number): number[] {
  const most = 2 ** bits - 1;
  if (value < most) return [value];
  const bytes = [most];
  let rest = value - most;
  for (; rest >= 0x80; rest >>= 7) bytes.push((rest & 0x7f) | 0x80);
  bytes.push(rest);
  return bytes;
}

function weightOf([name, value]: Field): number {
  return name.length + value.length + OVERHEAD_BYTES;
}

function broken(message: string): ConnectionError {
  return new ConnectionError(ERROR.COMPRESSION_ERROR, message);
}
