/** The bounds of the A2A wire, each with its reason; those of cards are in core/cards. */

export const CATALOG = {
  /** Entries on one page of `POST /search`, as its draft says. */
  pageDefault: 10,
  pageMost: 100,
  /** A query is a sentence or two; it is embedded. */
  textLength: 4 * 1024,
  /** Keys of a filter, and values of a key. */
  filters: 16,
  values: 64,
} as const;
