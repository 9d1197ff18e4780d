/**
 * JSON read the way the peer reads it, for when the fast way is not enough: to say in its words
 * where a text stops being JSON, to keep every digit of every number, and to take the NaN and
 * Infinity that it takes.
 */
import { RollcallError } from "../../core/errors.ts";
import { NumberText } from "./json-text.ts";
import { STATUS_FILE } from "./limits.ts";

export type JsonResult =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly problem: string };

/** Every number is a NumberText. */
export function readJson(text: string): JsonResult {
  try {
    return { ok: true, value: new Reader(text.replace(/\r\n?/g, "\n")).whole() };
  } catch (error) {
    if (error instanceof RollcallError) return { ok: false, problem: error.message };
    throw error;
  }
}

/** The same with numbers as numbers, as far as they can hold them. */
export function withPlainNumbers(value: unknown): unknown {
  if (value instanceof NumberText) return Number(value.text);
  if (Array.isArray(value)) return value.map(withPlainNumbers);
  if (typeof value !== "object" || value === null) return value;
  const plain = Object.entries(value).map(([key, each]) => [key, withPlainNumbers(each)] as const);
  return Object.fromEntries(plain);
}

const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const WORDS = /null|true|false|NaN|-?Infinity/y;
const SPACE = /[ \t\n\r]*/y;
/** Up to the end of the string or what needs a closer look. */
// oxlint-disable-next-line no-control-regex -- control characters end the plain part
const PLAIN = /[^"\\\0-\x1f]*/y;

const ESCAPES: Readonly<Record<string, string>> = {
  '"': '"',
  "\\": "\\",
  "/": "/",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
};

class Reader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  whole(): unknown {
    if (this.#text.startsWith("\ufeff")) {
      throw this.#wrong("Unexpected UTF-8 BOM (decode using utf-8-sig)", 0);
    }
    this.#take(SPACE);
    const value = this.#value(0);
    this.#take(SPACE);
    if (this.#at < this.#text.length) throw this.#wrong("Extra data");
    return value;
  }

  #value(depth: number): unknown {
    if (depth > STATUS_FILE.depth) {
      throw this.#wrong(`Nested more than ${STATUS_FILE.depth} levels deep`);
    }
    const first = this.#text[this.#at];
    if (first === '"') return this.#string();
    if (first === "{") return this.#object(depth);
    if (first === "[") return this.#array(depth);
    const word = this.#take(WORDS);
    if (word === "null") return null;
    if (word === "true" || word === "false") return word === "true";
    const number = word || this.#take(NUMBER);
    if (number === "") throw this.#wrong("Expecting value");
    return new NumberText(number);
  }

  #object(depth: number): Record<string, unknown> {
    const fields: [string, unknown][] = [];
    this.#at += 1;
    this.#take(SPACE);
    if (this.#ends("}")) return {};
    for (;;) {
      if (this.#text[this.#at] !== '"') {
        throw this.#wrong("Expecting property name enclosed in double quotes");
      }
      const key = this.#string();
      this.#take(SPACE);
      if (!this.#ends(":")) throw this.#wrong("Expecting ':' delimiter");
      this.#take(SPACE);
      fields.push([key, this.#value(depth + 1)]);
      if (this.#isLast("}")) return Object.fromEntries(fields);
    }
  }

  #array(depth: number): unknown[] {
    const items: unknown[] = [];
    this.#at += 1;
    this.#take(SPACE);
    if (this.#ends("]")) return items;
    for (;;) {
      items.push(this.#value(depth + 1));
      if (this.#isLast("]")) return items;
    }
  }

  /** Behind an entry: whether that was the last one, or a comma and another follows. */
  #isLast(bracket: string): boolean {
    this.#take(SPACE);
    if (this.#ends(bracket)) return true;
    if (!this.#ends(",")) throw this.#wrong("Expecting ',' delimiter");
    this.#take(SPACE);
    return false;
  }

  #string(): string {
    const begin = this.#at;
    let read = "";
    this.#at += 1;
    for (;;) {
      read += this.#take(PLAIN);
      const next = this.#text[this.#at];
      if (next === undefined) throw this.#wrong("Unterminated string starting at", begin);
      if (next !== '"' && next !== "\\") throw this.#wrong("Invalid control character at");
      this.#at += 1;
      if (next === '"') return read;
      read += this.#escape(begin);
    }
  }

  /** Behind a backslash. */
  #escape(begin: number): string {
    const letter = this.#text[this.#at];
    if (letter === undefined) throw this.#wrong("Unterminated string starting at", begin);
    if (letter === "u") return this.#unicode();
    const meant = ESCAPES[letter];
    if (meant === undefined) throw this.#wrong("Invalid \\escape", this.#at - 1);
    this.#at += 1;
    return meant;
  }

  #unicode(): string {
    const digits = this.#text.slice(this.#at + 1, this.#at + 5);
    const isAtEnd = this.#at + 5 >= this.#text.length;
    if (isAtEnd || !/^[\da-fA-F]{4}$/.test(digits)) throw this.#wrong("Invalid \\uXXXX escape");
    this.#at += 5;
    return String.fromCharCode(Number.parseInt(digits, 16));
  }

  #take(pattern: RegExp): string {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text)?.[0] ?? "";
    this.#at += found.length;
    return found;
  }

  #ends(mark: string): boolean {
    if (this.#text[this.#at] !== mark) return false;
    this.#at += 1;
    return true;
  }

  /** Positions count characters, not the halves that JavaScript counts. */
  #wrong(what: string, at = this.#at): RollcallError {
    const before = this.#text.slice(0, at);
    const lines = before.split("\n");
    const column = Array.from(lines.at(-1) ?? "").length + 1;
    const where = `line ${lines.length} column ${column} (char ${Array.from(before).length})`;
    return new RollcallError("INVALID_ARGUMENT", `${what}: ${where}`);
  }
}
