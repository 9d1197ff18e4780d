/**
 * How many columns a text takes in a terminal, and cutting or filling it to a number of them. Only
 * what is clean may come here: see clean.ts. Plain text, which is nearly everything, never loads
 * the segmenter.
 */
import { lazyRegExp } from "../../core/lazy-regexp.ts";
import { isPlain } from "./clean.ts";

/** Shown as two columns: East Asian wide and full-width blocks, and pictures. */
const WIDE = lazyRegExp("u", [
  String.raw`^[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff]`,
  String.raw`^[\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6]`,
  String.raw`^[\u{1b000}-\u{1b2ff}\u{1f200}-\u{1f2ff}\u{20000}-\u{3fffd}]`,
  String.raw`^\p{Emoji_Presentation}|^\p{RI}{2}|^.\ufe0f`,
]);

const NOTHING = lazyRegExp("u", [String.raw`^[\p{M}\u200c\u200d]+$`]);

const ELLIPSIS = "…";

let segmenter: Intl.Segmenter | undefined;

function graphemes(text: string): Iterable<{ readonly segment: string }> {
  segmenter ??= new Intl.Segmenter(undefined, { granularity: "grapheme" });
  return segmenter.segment(text);
}

function columnsOf(grapheme: string): number {
  if (NOTHING().test(grapheme)) return 0;
  return WIDE().test(grapheme) ? 2 : 1;
}

export function widthOf(text: string): number {
  if (isPlain(text)) return text.length;
  let width = 0;
  for (const { segment } of graphemes(text)) width += columnsOf(segment);
  return width;
}

/** At most so many columns; what was cut shows as an ellipsis. */
export function truncate(text: string, columns: number): string {
  // A text that is far too long is not measured to its end.
  const most = columns * 16;
  if (text.length <= most && widthOf(text) <= columns) return text;
  if (columns < 1) return "";
  let kept = "";
  let width = 0;
  for (const { segment } of graphemes(text.slice(0, most))) {
    width += columnsOf(segment);
    if (width > columns - 1) break;
    kept += segment;
  }
  return kept + ELLIPSIS;
}

/** The same, but what stays is its end. */
export function truncateStart(text: string, columns: number): string {
  const most = columns * 16;
  if (text.length <= most && widthOf(text) <= columns) return text;
  if (columns < 1) return "";
  let kept = "";
  let width = 0;
  for (const { segment } of [...graphemes(text.slice(-most))].toReversed()) {
    width += columnsOf(segment);
    if (width > columns - 1) break;
    kept = segment + kept;
  }
  return ELLIPSIS + kept;
}

export function padEnd(text: string, columns: number): string {
  return text + " ".repeat(Math.max(0, columns - widthOf(text)));
}

export function padStart(text: string, columns: number): string {
  return " ".repeat(Math.max(0, columns - widthOf(text))) + text;
}

/** Lines of so many columns; only a word that is longer than a line makes a longer one. */
export function wrap(text: string, columns: number): readonly string[] {
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    const line = lines.at(-1);
    const isRoom = line !== undefined && widthOf(line) + 1 + widthOf(word) <= columns;
    if (isRoom) lines[lines.length - 1] = `${line} ${word}`;
    else lines.push(word);
  }
  return lines;
}

/** Text that begins in a column further right, and goes on below in that column. */
export function hanging(text: string, indent: number, columns: number): string {
  const lines = wrap(text, Math.max(columns - indent, NARROWEST));
  return lines.join(`\n${" ".repeat(indent)}`);
}

/** Less reads worse than lines that the terminal breaks. */
const NARROWEST = 30;
