/**
 * Text patterns in which `*` stands for any run of characters, and an index that finds all patterns
 * that match a text without trying each.
 *
 * A pattern is filed under its literal part before the first `*`. A text can only match a pattern
 * whose literal beginning it shares, so a lookup asks once for each length such beginnings have:
 * a handful, however many patterns there are.
 */

export function matches(pattern: string, text: string): boolean {
  let p = 0;
  let t = 0;
  let star = -1;
  let resumeAt = 0;
  while (t < text.length) {
    const char = pattern[p];
    // The star first: a text may hold one too, and there it is a character like any other.
    if (char === "*") {
      star = p;
      resumeAt = t;
      p += 1;
    } else if (char === text[t]) {
      p += 1;
      t += 1;
    } else if (star >= 0) {
      resumeAt += 1;
      t = resumeAt;
      p = star + 1;
    } else {
      return false;
    }
  }
  while (pattern[p] === "*") p += 1;
  return p === pattern.length;
}

/** Whether some text that begins so may match. */
export function mayMatchBeginning(pattern: string, beginning: string): boolean {
  const star = pattern.indexOf("*");
  const literal = star < 0 ? pattern : pattern.slice(0, star);
  return literal.startsWith(beginning) || (star >= 0 && beginning.startsWith(literal));
}

export class PatternIndex<Value> {
  readonly #exact = new Map<string, Value>();
  /** Length of the literal beginning → that beginning → the patterns that have it. */
  readonly #byLength = new Map<number, Map<string, Map<string, Value>>>();

  get isEmpty(): boolean {
    return this.#exact.size === 0 && this.#byLength.size === 0;
  }

  get(pattern: string): Value | undefined {
    const star = pattern.indexOf("*");
    if (star < 0) return this.#exact.get(pattern);
    return this.#byLength.get(star)?.get(pattern.slice(0, star))?.get(pattern);
  }

  set(pattern: string, value: Value): void {
    const star = pattern.indexOf("*");
    if (star < 0) {
      this.#exact.set(pattern, value);
      return;
    }
    const byBeginning = entryOf(this.#byLength, star, () => new Map<string, Map<string, Value>>());
    const beginning = pattern.slice(0, star);
    entryOf(byBeginning, beginning, () => new Map<string, Value>()).set(pattern, value);
  }

  delete(pattern: string): void {
    const star = pattern.indexOf("*");
    if (star < 0) {
      this.#exact.delete(pattern);
      return;
    }
    const byBeginning = this.#byLength.get(star);
    const beginning = pattern.slice(0, star);
    const patterns = byBeginning?.get(beginning);
    if (!byBeginning || !patterns?.delete(pattern) || patterns.size > 0) return;
    byBeginning.delete(beginning);
    if (byBeginning.size === 0) this.#byLength.delete(star);
  }

  *matching(text: string): Generator<Value> {
    const exact = this.#exact.get(text);
    if (exact !== undefined) yield exact;
    for (const [length, byBeginning] of this.#byLength) {
      if (length > text.length) continue;
      const patterns = byBeginning.get(text.slice(0, length));
      if (!patterns) continue;
      for (const [pattern, value] of patterns) if (matches(pattern, text)) yield value;
    }
  }
}

function entryOf<Key, Value>(map: Map<Key, Value>, at: Key, make: () => Value): Value {
  const found = map.get(at);
  if (found !== undefined) return found;
  const made = make();
  map.set(at, made);
  return made;
}
