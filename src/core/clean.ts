/**
 * Text from agents is data. Before it reaches a terminal everything is taken out that could move
 * the cursor, change colours or titles, paste into the clipboard, or show a reader something else
 * than what is there: escape sequences, control characters, direction overrides, what is invisible.
 *
 * The result is one line. A character that was a line break or a tab becomes a space.
 */
import { lazyRegExp } from "./lazy-regexp.ts";

/**
 * Whole sequences first, with their payload: ESC [ … and its one-byte form; then those that carry a
 * string (titles, clipboard, device control), which a terminal swallows up to their end.
 */
const SEQUENCES = lazyRegExp("g", [
  String.raw`(?:\x1b\[|\x9b)[\x30-\x3f]*[\x20-\x2f]*[\x40-\x7e]?`,
  String.raw`(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)?`,
  String.raw`\x1b[\x20-\x2f]*[\x30-\x7e]?`,
]);

/** Line breaks of every kind, and tabs. */
const BREAKS = lazyRegExp("g", [String.raw`[\t\n\v\f\r\u0085\u2028\u2029]+`]);

/**
 * Controls; soft hyphen; Arabic letter mark, left-to-right and right-to-left marks, embeddings,
 * overrides and isolates; zero-width space, word joiner and the invisible operators; byte order
 * mark; interlinear annotation; fillers, which are drawn as nothing; variation selectors and
 * language tags, in which text can hide. Joiners and the selectors of emoji stay: they need them.
 */
const INVISIBLE = lazyRegExp("gu", [
  String.raw`[\0-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e]`,
  String.raw`[\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}\u{e0100}-\u{e01ef}]`,
  String.raw`[\u115f\u1160\u17b4\u17b5\u180b-\u180d\u180f\u3164\ufe00-\ufe0d\uffa0]`,
]);

/** Behind a character an emoji has one of each at most; text can hide in more. */
const JOINED = lazyRegExp("gu", [
  String.raw`([\u200c\u200d\ufe0e\ufe0f]{2})[\u200c\u200d\ufe0e\ufe0f]+`,
]);

/**
 * Nearly everything there is: ASCII, European letters, and the punctuation, arrows, box lines and
 * signs that our own tables are drawn with.
 */
const PLAIN =
  /^[\x20-\x7e\xa1-\xac\xae-\u02ff\u2010-\u2026\u2190-\u21ff\u2500-\u25fc\u2713\u2717]*$/;

/** Nothing to clean, and each character takes one column of a terminal. */
export function isPlain(text: string): boolean {
  return PLAIN.test(text);
}

/** Marks that sit on the character before them; a few make a letter, hundreds make a mess. */
const STACKED = lazyRegExp("gu", [String.raw`(\p{M}{4})\p{M}+`]);

export function clean(text: string): string {
  if (isPlain(text)) return text;
  return text
    .replace(SEQUENCES(), "")
    .replace(BREAKS(), " ")
    .replace(INVISIBLE(), "")
    .replace(JOINED(), "$1")
    .replace(STACKED(), "$1")
    .replace(/\p{Cs}/gu, "\ufffd");
}

/** JSON that means the same and holds nothing a terminal would act on. */
export function cleanJson(value: unknown): string {
  return JSON.stringify(value).replace(INVISIBLE(), (found) => {
    const units = Array.from({ length: found.length }, (_, i) => found.charCodeAt(i));
    return units.map((unit) => `\\u${unit.toString(16).padStart(4, "0")}`).join("");
  });
}
