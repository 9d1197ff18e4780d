/** Text of an agent on its way to people: one line, harmless, short. */
import { clean } from "../../../core/clean.ts";
import { SHOWN } from "./limits.ts";

/** How much of a text is looked at: whatever is cleaned away, enough is left. */
const SLACK = 8;

/** Nothing where nothing is left to be shown. */
export function shownText(text: string | undefined, length: number = SHOWN.message): string | null {
  if (text === undefined) return null;
  const line = clean(text.slice(0, length * SLACK))
    .replace(/\s+/gu, " ")
    .trim();
  if (line === "") return null;
  return text.length > length ? copy(cut(line, length)) : line;
}

/** A part of a string keeps all of it in memory; this one is on its own. */
function copy(part: string): string {
  return Buffer.from(part).toString();
}

/** By whole characters: half of a pair is none. */
export function cut(line: string, length: number): string {
  if (line.length <= length) return line;
  const kept = line.slice(0, length - 1);
  return `${/[\ud800-\udbff]$/.test(kept) ? kept.slice(0, -1) : kept}…`;
}

/** The last part of a path of either kind. */
export function baseName(path: string): string {
  const parts = path.slice(-SHOWN.path).split(/[/\\]/);
  return parts.findLast((part) => part !== "") ?? "";
}
