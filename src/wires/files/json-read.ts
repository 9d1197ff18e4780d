/**
 * JSON read the way the peer reads it, for when the fast way is not enough: to say in its words
 * where a text stops being JSON, to keep every digit of every number, and to take the NaN and
 * Infinity that it takes.
 */
import { plainWith, readJson as read } from "../../core/json.ts";
import { NumberText } from "./json-text.ts";

export type JsonResult =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly problem: string };

/** Every number is a NumberText. */
export function readStatusJson(written: string): JsonResult {
  const text = written.replace(/\r\n?/g, "\n");
  const reading = read(text, { asPython: true });
  if (!reading.ok)
    return { ok: false, problem: `${reading.problem}: ${placeOf(text, reading.at)}` };
  return { ok: true, value: plainWith(reading.value, (number) => new NumberText(number)) };
}

/** Positions count characters, not the halves that JavaScript counts. */
function placeOf(text: string, at: number): string {
  const before = text.slice(0, at);
  const lines = before.split("\n");
  const column = Array.from(lines.at(-1) ?? "").length + 1;
  return `line ${lines.length} column ${column} (char ${Array.from(before).length})`;
}

/** The same with numbers as numbers, as far as they can hold them. */
export function withPlainNumbers(value: unknown): unknown {
  if (value instanceof NumberText) return Number(value.text);
  if (Array.isArray(value)) return value.map(withPlainNumbers);
  if (typeof value !== "object" || value === null) return value;
  const plain = Object.entries(value).map(([key, each]) => [key, withPlainNumbers(each)] as const);
  return Object.fromEntries(plain);
}
