/** Moments as text (RFC 3339), read strictly: without an offset nobody knows what was meant. */
const INSTANT =
  /^\d{4}-\d\d-\d\d[Tt](?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,9})?([Zz]|[+-]\d\d:\d\d)$/;

/** Milliseconds since 1970; undefined for what is no moment. */
export function instantOf(text: string): number | undefined {
  const found = text.length <= 40 ? INSTANT.exec(text) : null;
  if (!found) return undefined;
  const ms = Date.parse(text.toUpperCase());
  return Number.isNaN(ms) ? undefined : ms;
}

/** The same, for moments that must be said in UTC: `Z` or `+00:00`. */
export function utcInstantOf(text: string): number | undefined {
  return /(?:[Zz]|\+00:00)$/.test(text) ? instantOf(text) : undefined;
}
