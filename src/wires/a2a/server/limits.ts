/** The bounds of the A2A wire, each with its reason; those of cards are in core/cards. */

export const CATALOG = {
  /** What one page of `POST /search` holds, as its draft says. */
  pageDefault: 10,
  pageMost: 100,
  /** A query is a sentence or two; it is embedded. */
  textLength: 4 * 1024,
  /** Keys of a filter, and values of a key. */
  filters: 16,
  values: 64,
  /** What a registry is asked to show of an agent's own examples. */
  queries: 5,
  queryLength: 256,
} as const;
