/**
 * JSON as the peer writes it: keys in order, two spaces, nothing but ASCII. What was read with its
 * numbers as text (see json-read.ts) is written with every digit it had.
 */
import { invalidArgument, type RollcallError } from "../../core/errors.ts";
import { JSON_DEPTH } from "../../core/json.ts";

/** A number as it stood in the text: 1.0 is no integer to the peer, and 2^63 no double. */
export class NumberText {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  get isInteger(): boolean {
    return /^-?\d+$/.test(this.text);
  }
}

/** Without the final newline. */
export function jsonText(value: unknown): string {
  return written(value, "\n", "");
}

function written(value: unknown, indent: string, field: string): string {
  if (value === null || typeof value === "boolean") return String(value);
  if (typeof value === "string") return quoted(value);
  if (typeof value === "number" && Number.isFinite(value)) return JSON.stringify(value);
  if (typeof value === "bigint") return String(value);
  if (value instanceof NumberText) return canonical(value);
  if (typeof value !== "object") throw refusal(field, "is no JSON value");
  // A line break, and two spaces for each level.
  if (indent.length > 1 + JSON_DEPTH * 2) {
    throw refusal(field, `lies more than ${JSON_DEPTH} levels deep`);
  }
  const deeper = `${indent}  `;
  if (Array.isArray(value)) {
    const items = value.map((item: unknown, i) => written(item, deeper, `${field}[${i}]`));
    return items.length === 0 ? "[]" : `[${deeper}${items.join(`,${deeper}`)}${indent}]`;
  }
  const fields = Object.entries(value)
    .filter(([, each]) => each !== undefined)
    .sort(([a], [b]) => byCodePoints(a, b))
    .map(([key, each]) => {
      return `${quoted(key)}: ${written(each, deeper, field === "" ? key : `${field}.${key}`)}`;
    });
  return fields.length === 0 ? "{}" : `{${deeper}${fields.join(`,${deeper}`)}${indent}}`;
}

function refusal(field: string, problem: string): RollcallError {
  return invalidArgument(`${field || "the status"} ${problem}`);
}

const BEYOND_ASCII = /[^\0-\x7e]/g;

function quoted(text: string): string {
  return JSON.stringify(text).replace(BEYOND_ASCII, (unit) => {
    return `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
  });
}

/** Halves of characters, and what comes behind them. */
const HIGH = /[\ud800-\uffff]/;

/** As the peer sorts: JavaScript compares halves of characters, and puts emoji too early. */
export function byCodePoints(a: string, b: string): number {
  if (a === b) return 0;
  if (!HIGH.test(a) && !HIGH.test(b)) return a < b ? -1 : 1;
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i += 1) {
    if (a.charCodeAt(i) === b.charCodeAt(i)) continue;
    return (a.codePointAt(i) ?? 0) - (b.codePointAt(i) ?? 0);
  }
  return a.length - b.length;
}

/** Many at once: where none is high, as nearly always, the order of the language is the same. */
export function inCodePointOrder(texts: readonly string[]): string[] {
  return texts.some((text) => HIGH.test(text)) ? texts.toSorted(byCodePoints) : texts.toSorted();
}

/** Whole numbers keep their digits; others are as short as they can be, with a point. */
function canonical(number: NumberText): string {
  if (number.isInteger) return number.text === "-0" ? "0" : number.text;
  const value = Number(number.text);
  if (!Number.isFinite(value)) return String(value);
  const [digits, exponent = "0"] = value.toExponential().split("e");
  const power = Number(exponent);
  if (value !== 0 && (power < -4 || power >= 16)) {
    return `${digits}e${power < 0 ? "-" : "+"}${String(Math.abs(power)).padStart(2, "0")}`;
  }
  const plain = Object.is(value, -0) ? "-0" : String(value);
  return plain.includes(".") ? plain : `${plain}.0`;
}
