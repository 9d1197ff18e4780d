/**
 * Cuts text into the tokens a BERT model (uncased) knows: words in lower case without accents,
 * punctuation and CJK characters on their own, and each word as the longest pieces of the
 * vocabulary that make it up, those after the first marked with ##.
 *
 *   "Déjà-vu"  →  deja  -  vu       "unreadable"  →  un  ##rea  ##dable
 *
 * A word with a piece that is not in the vocabulary, or of more than 100 characters, is dropped.
 * Nearly all words are whole tokens, so one lookup is tried before anything is cut.
 */
import { SEARCH, WORD_LENGTH } from "./limits.ts";

export class WordPiece {
  readonly #ids: ReadonlyMap<string, number>;
  /** The ids of what follows a first piece, without the ##. */
  readonly #endings = new Map<string, number>();
  /** In UTF-16 units: no longer piece need be looked for. */
  readonly #longest: number;

  constructor(ids: ReadonlyMap<string, number>) {
    this.#ids = ids;
    let longest = 0;
    for (const [token, id] of ids) {
      longest = Math.max(longest, token.length);
      if (token.startsWith("##")) this.#endings.set(token.slice(2), id);
    }
    this.#longest = longest;
  }

  /** The tokens in order. What comes after the limit of a text's length is not looked at. */
  encode(text: string): number[] {
    const found: number[] = [];
    for (const word of words(text)) {
      const whole = this.#ids.get(word);
      if (whole === undefined) this.#cut(word, found);
      else if (isShort(word)) found.push(whole);
    }
    return found;
  }

  #cut(word: string, found: number[]): void {
    if (!isShort(word)) return;
    const before = found.length;
    for (let start = 0; start < word.length;) {
      const known = start === 0 ? this.#ids : this.#endings;
      let end = Math.min(word.length, start + this.#longest);
      let id = known.get(word.slice(start, end));
      while (id === undefined && end > start + 1) {
        end -= 1;
        id = known.get(word.slice(start, end));
      }
      if (id === undefined) {
        found.length = before;
        return;
      }
      found.push(id);
      start = end;
    }
  }
}

function isShort(word: string): boolean {
  if (word.length <= WORD_LENGTH) return true;
  // A character beyond the first plane is one character and two units.
  return word.length <= 2 * WORD_LENGTH && Array.from(word).length <= WORD_LENGTH;
}

/** All ASCII that is neither letter nor digit, punctuation, and the CJK blocks BERT knows. */
const SINGLE =
  "!-/:-@[-`{-~\\p{P}\\u{3400}-\\u{4dbf}\\u{4e00}-\\u{9fff}\\u{f900}-\\u{faff}" +
  "\\u{20000}-\\u{2a6df}\\u{2a700}-\\u{2ceaf}\\u{2f800}-\\u{2fa1f}";
const WORDS = new RegExp(`[${SINGLE}]|[^\\s${SINGLE}]+`, "gu");
const ASCII_WORDS = /[a-z0-9]+|[!-/:-@[-`{-~]/g;
const ASCII = /^[\t\n\r -~]*$/;

function words(text: string): readonly string[] {
  const taken = text.length > SEARCH.textLength ? text.slice(0, SEARCH.textLength) : text;
  if (ASCII.test(taken)) return taken.toLowerCase().match(ASCII_WORDS) ?? [];
  const plain = taken
    .replaceAll(/[\t\n\r]/g, " ")
    .replaceAll(/[\p{C}\ufffd]/gu, "")
    .normalize("NFD")
    .replaceAll(/\p{Mn}/gu, "")
    .toLowerCase();
  return plain.match(WORDS) ?? [];
}
