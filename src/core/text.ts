/** Text of agents and people, made short enough to be shown in a line and free of secrets. */
import { redact } from "./redact.ts";

/** How much is looked at: what comes later would be cut anyway. */
const LOOKED_AT = 20;

/** Whitespace folded, secrets out, at most so many characters, the last an ellipsis if cut. */
export function oneLine(text: string, length: number): string {
  const folded = redact(text.slice(0, length * LOOKED_AT))
    .replaceAll(/\s+/gu, " ")
    .trim();
  const characters = Array.from(folded);
  if (characters.length <= length) return folded;
  return `${characters
    .slice(0, length - 1)
    .join("")
    .trimEnd()}…`;
}

export function firstLine(text: string): string {
  return text.trimStart().split(/[\r\n]/u, 1)[0] ?? "";
}

/** A string field that says something, as one line. */
export function wordOf(value: unknown, length: number): string | undefined {
  return typeof value === "string" ? oneLine(value, length) || undefined : undefined;
}

/** A field of something that may be anything. */
export function field(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null && Object.hasOwn(value, name)
    ? (value as Record<string, unknown>)[name]
    : undefined;
}

/** The value of a JSON text; undefined where it is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The order of texts by their code units: the same on every machine, unlike localeCompare. */
export function byText(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
