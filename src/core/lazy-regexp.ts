/**
 * A regular expression that is made when it is first used. One with character properties takes V8
 * a good part of a millisecond, and a command that meets only plain text never needs it.
 */
export function lazyRegExp(flags: string, alternatives: readonly string[]): () => RegExp {
  let made: RegExp | undefined;
  return () => (made ??= new RegExp(alternatives.join("|"), flags));
}
