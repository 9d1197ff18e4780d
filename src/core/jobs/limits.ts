/** The bounds of jobs, with their reasons. What reaches one is refused by name. */

const KIB = 1024;
const MIB = 1024 * KIB;

export const LEASE = {
  /** The seven of the protocol and room for vendors'. */
  namespaces: 32,
  nameLength: 128,
  patterns: 256,
  /** A long path or URL; matching costs pattern times target. */
  patternLength: 1 * KIB,
  targetLength: 8 * KIB,
  /**
   * Steps in which one lease is compared with another before that is given up: a tenth of a
   * second. An honest pair of patterns needs some hundreds.
   */
  subsetSteps: 100_000,
} as const;

export const BUDGET = {
  currencies: 16,
  currencyLength: 32,
  /** Enough for the smallest price of one token, and for a sum nobody has. */
  fractionDigits: 24,
  wholeDigits: 24,
} as const;

export const AGENT = {
  nameLength: 128,
  versionLength: 64,
} as const;

export const EVENT = {
  kindLength: 128,
  /** Names of tools, metrics, phases, units; ids of calls. */
  nameLength: 256,
  /** One paragraph of a log, or one thought. */
  textLength: 64 * KIB,
  uriLength: 4 * KIB,
  dimensions: 64,
  /** Nested data of agents: what is deeper is an attack or a mistake. */
  depth: 64,
  /** A whole body, encoded: no peer may be sent more than 1 MiB in a frame. */
  bodyBytes: 768 * KIB,
} as const;

export const RESULT = {
  /** Encoded text of one chunk: half of what the strictest client takes in a frame. */
  chunkBytes: 512 * KIB,
  /** What we read in one: other runtimes send up to this much. */
  receivedChunkBytes: 1 * MIB,
  /** All chunks of a job, decoded: what a client can be asked to hold. */
  totalBytes: 256 * MIB,
  idLength: 128,
  /** Inline results beyond this go as chunks: a frame of 1 MiB kills the Python client. */
  inlineBytes: 900_000,
  summaryLength: 4 * KIB,
} as const;
