/**
 * JSON of others, read so that it can be given back as it was. A card passes through us on its way
 * to its reader, and a status file may be written again; JavaScript's own numbers would
 * turn 1.0 into 1 and round what is longer than 15 digits. So every value keeps the text it was
 * written in, and a changed card keeps the text of each value that did not change.
 *
 * A name that occurs twice keeps its first place and its last value, as everywhere; but the text
 * then means one thing to us and may mean another to somebody else, which is why it is reported.
 *
 * Errors use the words of Python's reader, which users of the peers know.
 */
import { RollcallError } from "./errors.ts";

/** Deeper than any card or status, far below what overflows a stack. */
export const JSON_DEPTH = 64;

export interface JsonOptions {
  /**
   * Takes all that Python takes, where the standard has no meaning for it: NaN and Infinity, a
   * number beyond a double, half a character. Says what a byte order mark is called there.
   */
  readonly asPython?: boolean;
}

export type Json = JsonObject | JsonArray | JsonString | JsonNumber | JsonWord;

export interface JsonObject {
  readonly kind: "object";
  readonly text: string;
  readonly members: ReadonlyMap<string, Json>;
}

export interface JsonArray {
  readonly kind: "array";
  readonly text: string;
  readonly items: readonly Json[];
}

export interface JsonString {
  readonly kind: "string";
  readonly text: string;
  readonly value: string;
}

export interface JsonNumber {
  readonly kind: "number";
  readonly text: string;
  readonly value: number;
}

export interface JsonWord {
  readonly kind: "word";
  readonly text: string;
  readonly value: boolean | null;
}

export type JsonReading =
  | { readonly ok: true; readonly value: Json; readonly hasRepeatedNames: boolean }
  | { readonly ok: false; readonly at: number; readonly problem: string };

export function readJson(text: string, options: JsonOptions = {}): JsonReading {
  const reader = new JsonText(text, options);
  try {
    const value = reader.whole();
    return { ok: true, value, hasRepeatedNames: reader.hasRepeatedNames };
  } catch (error) {
    if (error instanceof Unreadable) return { ok: false, at: error.at, problem: error.message };
    throw error;
  }
}

export function plain(value: Json): unknown {
  return JSON.parse(value.text);
}

/** The same of what Python takes, and with numbers as the caller wants them. */
export function plainWith(value: Json, numberOf: (text: string) => unknown): unknown {
  switch (value.kind) {
    case "number":
      return numberOf(value.text);
    case "array":
      return value.items.map((item) => plainWith(item, numberOf));
    case "object": {
      const fields = Array.from(
        value.members,
        ([name, each]) => [name, plainWith(each, numberOf)] as const,
      );
      return Object.fromEntries(fields);
    }
    case "string":
    case "word":
      return value.value;
  }
}

/** Never leaves this file: a way out of the recursion. */
class Unreadable extends RollcallError {
  readonly at: number;

  constructor(problem: string, at: number) {
    super("INVALID_ARGUMENT", problem);
    this.at = at;
  }
}

const SPACE = /[ \t\n\r]*/y;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const NO_NUMBER = /NaN|-?Infinity/y;
const WORD = /null|true|false/y;
/** Up to the end of the string or what needs a closer look. */
// oxlint-disable-next-line no-control-regex -- control characters end the plain part
const PLAIN = /[^"\\\0-\x1f]*/y;
const ESCAPE = /\\(?:["\\/bfnrt]|u[\da-fA-F]{4})/y;
const HALF_CHARACTER = /\p{Surrogate}/u;

class JsonText {
  hasRepeatedNames = false;
  readonly #text: string;
  readonly #asPython: boolean;
  #at = 0;

  constructor(text: string, { asPython = false }: JsonOptions) {
    this.#text = text;
    this.#asPython = asPython;
  }

  whole(): Json {
    if (this.#asPython && this.#text.startsWith("\ufeff")) {
      throw this.#wrong("Unexpected UTF-8 BOM (decode using utf-8-sig)");
    }
    this.#take(SPACE);
    const value = this.#value(0);
    this.#take(SPACE);
    if (this.#at < this.#text.length) throw this.#wrong("Extra data");
    return value;
  }

  #value(depth: number): Json {
    if (depth > JSON_DEPTH) throw this.#wrong(`Nested more than ${JSON_DEPTH} levels deep`);
    const first = this.#text[this.#at];
    if (first === '"') return this.#string();
    if (first === "{") return this.#object(depth);
    if (first === "[") return this.#array(depth);
    const word = this.#take(WORD);
    if (word !== "") {
      return { kind: "word", text: word, value: word === "null" ? null : word === "true" };
    }
    return this.#number();
  }

  #number(): JsonNumber {
    const begin = this.#at;
    const text = (this.#asPython && this.#take(NO_NUMBER)) || this.#take(NUMBER);
    if (text === "") throw this.#wrong("Expecting value");
    const value = Number(text);
    if (!this.#asPython && !Number.isFinite(value)) throw this.#wrong("Number out of range", begin);
    return { kind: "number", text, value };
  }

  #object(depth: number): JsonObject {
    const begin = this.#at;
    const members = new Map<string, Json>();
    this.#at += 1;
    this.#take(SPACE);
    if (!this.#ends("}")) {
      do {
        if (this.#text[this.#at] !== '"') {
          throw this.#wrong("Expecting property name enclosed in double quotes");
        }
        const name = this.#string().value;
        this.#take(SPACE);
        if (!this.#ends(":")) throw this.#wrong("Expecting ':' delimiter");
        this.#take(SPACE);
        const value = this.#value(depth + 1);
        if (members.has(name)) this.hasRepeatedNames = true;
        members.set(name, value);
      } while (!this.#isLast("}"));
    }
    return { kind: "object", text: this.#text.slice(begin, this.#at), members };
  }

  #array(depth: number): JsonArray {
    const begin = this.#at;
    const items: Json[] = [];
    this.#at += 1;
    this.#take(SPACE);
    if (!this.#ends("]")) {
      do items.push(this.#value(depth + 1));
      while (!this.#isLast("]"));
    }
    return { kind: "array", text: this.#text.slice(begin, this.#at), items };
  }

  /** Behind an entry: whether that was the last one, or a comma and another follows. */
  #isLast(bracket: string): boolean {
    this.#take(SPACE);
    if (this.#ends(bracket)) return true;
    if (!this.#ends(",")) throw this.#wrong("Expecting ',' delimiter");
    this.#take(SPACE);
    return false;
  }

  #string(): JsonString {
    const begin = this.#at;
    let isPlain = true;
    this.#at += 1;
    this.#take(PLAIN);
    while (!this.#ends('"')) {
      const next = this.#text[this.#at];
      if (next === undefined) throw this.#wrong("Unterminated string starting at", begin);
      if (next !== "\\") throw this.#wrong("Invalid control character at");
      this.#escape(begin);
      isPlain = false;
      this.#take(PLAIN);
    }
    const text = this.#text.slice(begin, this.#at);
    const value = isPlain ? text.slice(1, -1) : (JSON.parse(text) as string);
    if (!isPlain && !this.#asPython && HALF_CHARACTER.test(value)) {
      throw this.#wrong("Half a character in", begin);
    }
    return { kind: "string", text, value };
  }

  #escape(begin: number): void {
    const backslash = this.#at;
    const isEscape = this.#take(ESCAPE) !== "";
    switch (this.#text[backslash + 1]) {
      case undefined:
        throw this.#wrong("Unterminated string starting at", begin);
      case "u":
        // Python looks for what follows before it looks at the digits.
        if (isEscape && this.#at < this.#text.length) return;
        throw this.#wrong("Invalid \\uXXXX escape", backslash + 1);
      default:
        if (!isEscape) throw this.#wrong("Invalid \\escape");
    }
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

  #wrong(problem: string, at = this.#at): Unreadable {
    return new Unreadable(problem, at);
  }
}
