/** The words that look like another, for "did you mean": a letter more, less, wrong or swapped. */

/** No more are compared: that takes a few milliseconds, in which nobody else is served. */
const COMPARED = 1_000;
const SHOWN = 3;

/** The nearest first; a word of three letters may be off by one, of six by two, and so on. */
export function nearest(word: string, others: Iterable<string>): readonly string[] {
  const most = Math.max(1, Math.floor(word.length / 3));
  const found: { readonly other: string; readonly distance: number }[] = [];
  let compared = 0;
  for (const other of others) {
    if ((compared += 1) > COMPARED) break;
    if (Math.abs(other.length - word.length) > most) continue;
    const distance = distanceOf(word.toLowerCase(), other.toLowerCase());
    if (distance <= most) found.push({ other, distance });
  }
  return found
    .toSorted((a, b) => a.distance - b.distance)
    .slice(0, SHOWN)
    .map(({ other }) => other);
}

/** How many letters to insert, remove, replace, or swap with the next one. */
function distanceOf(a: string, b: string): number {
  let [before, last]: number[][] = [[], Array.from({ length: b.length + 1 }, (_, i) => i)];
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const isSame = a[i - 1] === b[j - 1];
      const isSwapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      row[j] = Math.min(
        at(last, j) + 1,
        at(row, j - 1) + 1,
        at(last, j - 1) + (isSame ? 0 : 1),
        isSwapped ? at(before, j - 2) + 1 : Infinity,
      );
    }
    [before, last] = [last, row];
  }
  return at(last, b.length);
}

function at(row: readonly number[] | undefined, i: number): number {
  return row?.[i] ?? Infinity;
}
