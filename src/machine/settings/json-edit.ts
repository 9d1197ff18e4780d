/**
 * Changes a JSON file the way a careful person does: the line that is meant, and not a byte beside
 * it. Comments, blank lines, the order of keys, the indentation and the line ends all stay.
 *
 * The text is read into a tree that knows where everything stands; an edit is a piece of text put
 * in or cut out. What was put in at the end of a list and is cut out again leaves what was before.
 */
import { RollcallError } from "../../core/errors.ts";

interface Span {
  readonly start: number;
  readonly end: number;
}

export interface Member extends Span {
  readonly key: string;
  readonly value: Node;
}

export type Node = Span &
  (
    | { readonly kind: "object"; readonly parts: readonly Member[] }
    | { readonly kind: "array"; readonly parts: readonly Node[] }
    | { readonly kind: "scalar"; readonly value: unknown }
  );

/** As deep as settings ever are, far below what overflows a stack. */
const MAX_DEPTH = 100;

/** Comments and trailing commas are allowed: people write them. */
export function readJson(text: string): Node {
  const reader = new Reader(text);
  const node = reader.value(0);
  reader.end();
  return node;
}

const BLANK = /(?:\s|\/\/[^\n]*|\/\*[^]*?\*\/|\ufeff)*/y;
const STRING = /"(?:[^"\\\n]|\\.)*"/y;
const WORD = /[-+.\w]+/y;

class Reader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  value(depth: number): Node {
    if (depth > MAX_DEPTH) throw this.#wrong(`more than ${MAX_DEPTH} levels deep`);
    this.#skip();
    const start = this.#at;
    const first = this.#text[start];
    if (first === "{") {
      const parts = this.#parts("}", () => this.#member(depth));
      return { kind: "object", parts, start, end: this.#at };
    }
    if (first === "[") {
      const parts = this.#parts("]", () => this.value(depth + 1));
      return { kind: "array", parts, start, end: this.#at };
    }
    const value = this.#scalar(first === '"' ? STRING : WORD);
    return { kind: "scalar", value, start, end: this.#at };
  }

  end(): void {
    this.#skip();
    if (this.#at < this.#text.length) throw this.#wrong("something stands behind the end");
  }

  #member(depth: number): Member {
    const start = this.#at;
    const key = this.#scalar(STRING) as string;
    this.#skip();
    if (this.#text[this.#at] !== ":") throw this.#wrong("a colon is missing");
    this.#at += 1;
    const value = this.value(depth + 1);
    return { key, value, start, end: this.#at };
  }

  #parts<T>(close: string, part: () => T): readonly T[] {
    const parts: T[] = [];
    this.#at += 1;
    for (;;) {
      this.#skip();
      if (this.#text[this.#at] === close) break;
      parts.push(part());
      this.#skip();
      if (this.#text[this.#at] === ",") this.#at += 1;
      else if (this.#text[this.#at] !== close) throw this.#wrong(`"," or "${close}" is missing`);
    }
    this.#at += 1;
    return parts;
  }

  #scalar(form: RegExp): unknown {
    const found = this.#match(form);
    try {
      return JSON.parse(found);
    } catch {
      throw this.#wrong("there is no value");
    }
  }

  #skip(): void {
    this.#match(BLANK);
  }

  #match(form: RegExp): string {
    form.lastIndex = this.#at;
    const found = form.exec(this.#text)?.[0] ?? "";
    this.#at += found.length;
    return found;
  }

  #wrong(problem: string): RollcallError {
    const before = this.#text.slice(0, this.#at).split("\n");
    const place = `line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1}`;
    return new RollcallError("INVALID_ARGUMENT", `${problem} at ${place}`);
  }
}

/** What the text means. */
export function meaningOf(node: Node): unknown {
  switch (node.kind) {
    case "scalar":
      return node.value;
    case "array":
      return node.parts.map(meaningOf);
    case "object":
      return Object.fromEntries(node.parts.map(({ key, value }) => [key, meaningOf(value)]));
  }
}

export function memberOf(node: Node | undefined, key: string): Node | undefined {
  return node?.kind === "object"
    ? node.parts.findLast((member) => member.key === key)?.value
    : undefined;
}

type Container = Extract<Node, { readonly kind: "object" | "array" }>;

/** Puts a value at the end of an array, or under a new key at the end of an object. */
export function append(
  text: string,
  into: Container,
  [key, value]: readonly [string, unknown],
): string {
  const newline = text.includes("\r\n") ? "\r\n" : "\n";
  const label = into.kind === "object" ? `${JSON.stringify(key)}: ` : "";
  const last = into.parts.at(-1);
  const outer = indentAt(text, into.start);
  const unit = unitOf(text);
  if (!last) {
    const inside = { start: into.start + 1, end: into.end - 1 };
    const kept = text.slice(inside.start, inside.end).trimEnd();
    const shown = spread(value, unit, newline + outer + unit);
    const middle = `${kept}${newline}${outer}${unit}${label}${shown}${newline}${outer}`;
    return splice(text, inside, middle);
  }
  const [at, hasComma] = behind(text, last.end);
  if (!text.slice(into.start, last.start).includes("\n")) {
    const shown = ` ${label}${JSON.stringify(value)}`;
    return splice(text, at, hasComma ? `${shown},` : `,${shown}`);
  }
  const inner = newline + indentAt(text, last.start);
  const line = inner + label + spread(value, unit, inner);
  // A comment at the end of its line stays with what it is about.
  const rest = endOfLine(text, at);
  return hasComma ? splice(text, rest, `${line},`) : splice(splice(text, rest, line), at, ",");
}

/** Puts values before all others of a list, on the line of the first. */
export function prepend(text: string, into: Container, values: readonly unknown[]): string {
  const shown = values.map((value) => JSON.stringify(value)).join(", ");
  const [first] = into.parts;
  return first ? splice(text, first.start, `${shown}, `) : splice(text, into.start + 1, shown);
}

function spread(value: unknown, unit: string, newline: string): string {
  return JSON.stringify(value, null, unit).replaceAll("\n", newline);
}

/** Takes out a part; the commas between the others stay right. */
export function cut(text: string, from: Container, index: number): string {
  const { parts } = from;
  const part = parts[index];
  if (!part) return text;
  const before = parts[index - 1];
  const next = parts[index + 1];
  if (!before) {
    const alone = { start: from.start + 1, end: from.end - 1 };
    return splice(text, next ? { start: part.start, end: next.start } : alone, "");
  }
  const start = text.slice(0, part.start).trimEnd().length;
  const [after, hasComma] = behind(text, part.end);
  if (hasComma) return splice(text, { start: Math.max(start, before.end), end: after }, "");
  const [separator] = behind(text, before.end);
  const shorter = splice(text, { start: Math.max(start, separator), end: part.end }, "");
  return splice(shorter, { start: separator - 1, end: separator }, "");
}

export function replace(text: string, node: Span, value: unknown): string {
  return splice(text, node, JSON.stringify(value));
}

function splice(text: string, place: Span | number, middle: string): string {
  const { start, end } = typeof place === "number" ? { start: place, end: place } : place;
  return text.slice(0, start) + middle + text.slice(end);
}

const REST = /[ \t]*(?:\/\/[^\r\n]*|\/\*[^\r\n]*?\*\/[ \t]*)?(?=[\r\n]|$)/y;

/** Behind the blanks and the comment that end this line, if that is all. */
function endOfLine(text: string, at: number): number {
  REST.lastIndex = at;
  return at + (REST.exec(text)?.[0].length ?? 0);
}

/** Where to go on behind a part, and whether a comma stands there already. */
function behind(text: string, at: number): readonly [number, boolean] {
  BLANK.lastIndex = at;
  const comma = at + (BLANK.exec(text)?.[0].length ?? 0);
  return text[comma] === "," ? [comma + 1, true] : [at, false];
}

function indentAt(text: string, at: number): string {
  const line = text.slice(text.lastIndexOf("\n", at - 1) + 1, at);
  return /^[ \t]*/.exec(line)?.[0] ?? "";
}

function unitOf(text: string): string {
  return /\n([ \t]+)\S/.exec(text)?.[1] ?? "  ";
}
