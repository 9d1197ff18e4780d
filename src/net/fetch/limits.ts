/** How far the fetcher goes for a stranger's URL, each number with its reason. */
import { KIB, SECOND } from "../../core/units.ts";

export const FETCH = {
  /** As it arrives, and once more when it is unpacked. */
  bodyBytes: 256 * KIB,
  headerBytes: 16 * KIB,
  /** For one URL with its redirects: an agent that works answers in milliseconds. */
  requestMs: 3 * SECOND,
  /** For all candidates together: three that hang and a few that do not. */
  budgetMs: 10 * SECOND,
  redirects: 2,
  /** The longest key of a card, and the longest file name behind it. */
  urlLength: 2 * KIB + 64,
  /** Answers of a resolver: each is checked, and a hundred would be a game. */
  addresses: 16,
  /** How many of them are tried until one answers. */
  dials: 3,
  /** Verifications under way: each holds one socket and at most two bodies. */
  atOnce: 32,
  /** A host that is registered a thousand times is not asked a thousand times at once. */
  atOncePerOrigin: 2,
  /** Fetches that wait their turn; the next heartbeat tries again. */
  waiting: 1024,
} as const;

export type FetchLimits = { readonly [Name in keyof typeof FETCH]: number };
