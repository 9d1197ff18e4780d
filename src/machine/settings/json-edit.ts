/**
 * Changes a JSON file the way a careful person does: the line that is meant, and not a byte beside
 * it. Comments, blank lines, the order of keys, the indentation and the line ends all stay.
 *
 * `jsonc-parser` reads the text into a tree that knows where everything stands; an edit is a piece
 * of text put in or cut out. Its own edits are not used: they format whole lines anew, and a
 * comment behind a part moves or goes with the next one. A part that was appended and is cut out
 * again leaves the text as it was.
 */
import { getNodeValue, parseTree, printParseErrorCode, visit, type Node } from "jsonc-parser";
import { invalidArgument, type RollcallError } from "../../core/errors.ts";

export type { Node };

/** As deep as settings ever are, far below what overflows a stack. */
const MAX_DEPTH = 100;

/** People write comments and trailing commas. */
const OPTIONS = { allowTrailingComma: true } as const;

export function readJson(text: string): Node {
  // The parser takes no byte order mark.
  const json = text.replace(/^\ufeff/, " ");
  let depth = 0;
  const enter = (offset: number) => {
    depth += 1;
    if (depth > MAX_DEPTH) throw wrongAt(json, offset, `more than ${MAX_DEPTH} levels deep`);
  };
  const leave = () => {
    depth -= 1;
  };
  visit(
    json,
    {
      onObjectBegin: enter,
      onObjectEnd: leave,
      onArrayBegin: enter,
      onArrayEnd: leave,
      onError: (code, offset) => {
        const words = printParseErrorCode(code).replaceAll(/\B[A-Z]/g, " $&");
        throw wrongAt(json, offset, words.toLowerCase());
      },
    },
    OPTIONS,
  );
  const root = parseTree(json, [], OPTIONS);
  if (!root) throw wrongAt(json, 0, "value expected");
  return root;
}

function wrongAt(text: string, offset: number, problem: string): RollcallError {
  const before = text.slice(0, offset).split("\n");
  const place = `line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1}`;
  return invalidArgument(`${problem} at ${place}`);
}

export function meaningOf(node: Node): unknown {
  return getNodeValue(node);
}

export interface JsonMember {
  readonly key: string;
  readonly value: Node;
  /** Both of them with the colon: the part of the object. */
  readonly property: Node;
}

export function membersOf(node: Node | undefined): readonly JsonMember[] {
  if (node?.type !== "object") return [];
  return partsOf(node).flatMap((property) => {
    const [key, value] = partsOf(property);
    return key && value ? { key: String(key.value), value, property } : [];
  });
}

/** Of repeated keys the last one counts, as for every JSON reader. */
export function memberOf(node: Node | undefined, key: string): Node | undefined {
  return membersOf(node).findLast((member) => member.key === key)?.value;
}

/** The elements of an array, the properties of an object. */
export function partsOf(node: Node | undefined): readonly Node[] {
  return node?.children ?? [];
}

/** Puts a value at the end of an array, or under a new key at the end of an object. */
export function append(text: string, into: Node, [key, value]: readonly [string, unknown]): string {
  const newline = text.includes("\r\n") ? "\r\n" : "\n";
  const label = into.type === "object" ? `${JSON.stringify(key)}: ` : "";
  const last = partsOf(into).at(-1);
  const outer = indentAt(text, into.offset);
  const unit = unitOf(text);
  if (!last) {
    const inside = { start: into.offset + 1, end: endOf(into) - 1 };
    const kept = text.slice(inside.start, inside.end).trimEnd();
    const shown = spread(value, unit, newline + outer + unit);
    const middle = `${kept}${newline}${outer}${unit}${label}${shown}${newline}${outer}`;
    return splice(text, inside, middle);
  }
  const [at, hasComma] = behind(text, endOf(last));
  if (!text.slice(into.offset, last.offset).includes("\n")) {
    const shown = ` ${label}${JSON.stringify(value)}`;
    return splice(text, at, hasComma ? `${shown},` : `,${shown}`);
  }
  const inner = newline + indentAt(text, last.offset);
  const line = inner + label + spread(value, unit, inner);
  // A comment at the end of its line stays with what it is about.
  const rest = endOfLine(text, at);
  return hasComma ? splice(text, rest, `${line},`) : splice(splice(text, rest, line), at, ",");
}

/** Puts values before all others of a list, on the line of the first. */
export function prepend(text: string, into: Node, values: readonly unknown[]): string {
  const shown = values.map((value) => JSON.stringify(value)).join(", ");
  const [first] = partsOf(into);
  return first ? splice(text, first.offset, `${shown}, `) : splice(text, into.offset + 1, shown);
}

function spread(value: unknown, unit: string, newline: string): string {
  return JSON.stringify(value, null, unit).replaceAll("\n", newline);
}

/** Takes an element or a property out; the commas between the others stay right. */
export function cut(text: string, part: Node): string {
  const whole = part.parent;
  if (!whole) return text;
  const index = partsOf(whole).indexOf(part);
  const before = partsOf(whole)[index - 1];
  const next = partsOf(whole)[index + 1];
  if (!before) {
    if (next) return splice(text, { start: part.offset, end: next.offset }, "");
    return cutOnly(text, whole, part);
  }
  const start = text.slice(0, part.offset).trimEnd().length;
  const [after, hasComma] = behind(text, endOf(part));
  if (hasComma) return splice(text, { start: Math.max(start, endOf(before)), end: after }, "");
  const [separator] = behind(text, endOf(before));
  const shorter = splice(text, { start: Math.max(start, separator), end: endOf(part) }, "");
  return splice(shorter, { start: separator - 1, end: separator }, "");
}

/** With all that is blank around it; comments stay, and what follows them is none. */
function cutOnly(text: string, whole: Node, part: Node): string {
  const [end] = behind(text, endOf(part));
  if (isAlone(text, part))
    return splice(text, { start: whole.offset + 1, end: endOf(whole) - 1 }, "");
  const endsLine = /^[ \t]*\r?\n/.test(text.slice(end));
  const start = endsLine ? text.slice(0, part.offset).trimEnd().length : part.offset;
  return splice(text, { start, end }, "");
}

/** Whether nothing else is in the same list or object, not even a comment. */
export function isAlone(text: string, part: Node): boolean {
  const whole = part.parent;
  if (!whole || partsOf(whole).length > 1) return false;
  const [end] = behind(text, endOf(part));
  const beside = text.slice(whole.offset + 1, part.offset) + text.slice(end, endOf(whole) - 1);
  return beside.trim() === "";
}

export function replace(text: string, node: Node, value: unknown): string {
  return splice(text, { start: node.offset, end: endOf(node) }, JSON.stringify(value));
}

interface TextSpan {
  readonly start: number;
  readonly end: number;
}

function splice(text: string, place: TextSpan | number, middle: string): string {
  const { start, end } = typeof place === "number" ? { start: place, end: place } : place;
  return text.slice(0, start) + middle + text.slice(end);
}

function endOf({ offset, length }: Node): number {
  return offset + length;
}

const BLANK = /(?:\s|\/\/[^\n]*|\/\*[^]*?\*\/)*/y;

/** Where to go on behind a part, and whether a comma stands there already. */
function behind(text: string, at: number): readonly [number, boolean] {
  BLANK.lastIndex = at;
  const comma = at + (BLANK.exec(text)?.[0].length ?? 0);
  return text[comma] === "," ? [comma + 1, true] : [at, false];
}

const REST = /[ \t]*(?:\/\/[^\r\n]*|\/\*[^\r\n]*?\*\/[ \t]*)?(?=[\r\n]|$)/y;

/** Behind the blanks and the comment that end this line, if that is all. */
function endOfLine(text: string, at: number): number {
  REST.lastIndex = at;
  return at + (REST.exec(text)?.[0].length ?? 0);
}

function indentAt(text: string, at: number): string {
  const line = text.slice(text.lastIndexOf("\n", at - 1) + 1, at);
  return /^[ \t]*/.exec(line)?.[0] ?? "";
}

function unitOf(text: string): string {
  return /\n([ \t]+)\S/.exec(text)?.[1] ?? "  ";
}
