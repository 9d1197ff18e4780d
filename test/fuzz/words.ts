/** Short ways to write bytes down. */

/** Spaces only help the reader. */
export function hex(text: string): Buffer {
  return Buffer.from(text.replaceAll(" ", ""), "hex");
}

/** Each group of digits is a word. */
export function wordsOf(text: string): readonly Buffer[] {
  return text.split(" ").map((each) => Buffer.from(each, "hex"));
}

export function texts(...words: readonly string[]): readonly Buffer[] {
  return words.map((each) => Buffer.from(each));
}
